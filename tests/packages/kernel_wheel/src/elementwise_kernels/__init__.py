"""Element-wise kernels; `aivops.load_kernels("elementwise_kernels")` gives access to them."""
