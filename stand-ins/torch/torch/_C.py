"""What the compiled module says of how it was built."""

_GLIBCXX_USE_CXX11_ABI = True
# None leaves them to pybind11's headers, which say the same whenever the same compiler reads them.
_PYBIND11_COMPILER_TYPE = None
_PYBIND11_STDLIB = None
_PYBIND11_BUILD_ABI = None
