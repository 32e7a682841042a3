"""The same derivatives by other libraries, where they are installed."""

from types import SimpleNamespace

import numpy as np
from subjects import programs


def load_peers():
    """For each peer that can be imported: its name -> (problem -> callable, convert arguments)."""
    found = {}
    for name, make in (("jax", _jax), ("autograd", _autograd), ("torch", _torch)):
        try:
            found[name] = make()
        except ImportError:
            continue
    return found


def _jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    p = programs(jax.numpy, jax.lax.stop_gradient)
    rosenbrock_grad = jax.grad(p.rosenbrock)
    functions = {
        "td0": jax.grad(p.td_loss),
        "td0 batch": jax.vmap(jax.grad(p.td_loss), in_axes=(None, 0, 0, 0)),
        "classifier": jax.vmap(jax.value_and_grad(p.mlp_loss), in_axes=(None, 0, 0)),
        "rosenbrock": rosenbrock_grad,
        "rosenbrock hvp": lambda x, v: jax.jvp(rosenbrock_grad, (x,), (v,)),
        "logistic": jax.grad(p.logistic, (0, 1)),
    }
    finished = {
        problem: (lambda *args, f=jax.jit(f): jax.block_until_ready(f(*args)))
        for problem, f in functions.items()
    }
    return finished, lambda args: jax.tree.map(jax.numpy.asarray, args)


def _autograd():
    import autograd
    import autograd.numpy
    from autograd.tracer import getval

    p = programs(autograd.numpy, getval)
    functions = {
        "td0": autograd.grad(p.td_loss),
        "rosenbrock": autograd.grad(p.rosenbrock),
        "rosenbrock hvp": lambda x, v: autograd.make_jvp(autograd.grad(p.rosenbrock))(x)(v),
        "logistic": autograd.grad(p.logistic, (0, 1)),
    }
    return functions, lambda args: args


def _torch():
    import torch
    from torch.func import grad, grad_and_value, jvp, vmap

    names = SimpleNamespace(
        array=lambda value: torch.tensor(value, dtype=torch.float64),
        exp=torch.exp,
        log=torch.log,
        max=torch.max,
        sum=torch.sum,
        tanh=torch.tanh,
    )
    p = programs(names, lambda x: x.detach())

    def one_sample(params, x, label):
        return p.mlp_loss(params, x, label[None])[0]

    def classifier(*args):
        gradients, loss = vmap(grad_and_value(one_sample), in_dims=(None, 0, 0))(*args)
        return loss, gradients

    functions = {
        "td0": grad(p.td_loss),
        "td0 batch": vmap(grad(p.td_loss), in_dims=(None, 0, 0, 0)),
        "classifier": classifier,
        "rosenbrock": grad(p.rosenbrock),
        "rosenbrock hvp": lambda x, v: jvp(grad(p.rosenbrock), (x,), (v,)),
        "logistic": grad(p.logistic, (0, 1)),
    }

    def convert(value):
        if isinstance(value, tuple):
            return tuple(map(convert, value))
        if isinstance(value, dict):
            return {key: convert(item) for key, item in value.items()}
        return torch.tensor(np.asarray(value))

    return functions, convert
