"""Sparse Jacobians and Hessians: patterns by the program, elements by few directions."""

from s2s_ad.sparse.jacobians import SparseJacobian, sparse_hessian, sparse_jacobian

__all__ = ["SparseJacobian", "sparse_hessian", "sparse_jacobian"]
