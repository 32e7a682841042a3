"""MindSpore's place for initial values: `from s2s_ad.common.initializer import Normal`."""
