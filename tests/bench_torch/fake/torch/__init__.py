"""As much of torch as torch_route.py needs: tensors of Python floats, and a device that works off a queue of replays.

FAKE_TORCH says what goes wrong: no-torch, no-cuda, no-compile, wrong, nan, late, shape, changes-input.
"""

import contextlib
import ctypes
import os
import struct
import time

FAULT = os.environ.get("FAKE_TORCH", "")
if FAULT == "no-torch":
    raise ImportError("No module named 'torch'")
print("a library that greets")

__version__ = "2.11.0+fake"
REPLAY_MS = 0.125


class Dtype:
    def __init__(self, name, size, encode, decode):
        self.name, self.size, self.encode, self.decode = name, size, encode, decode


def bf16_encode(value):
    if value != value:
        return b"\xc0\x7f"
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def bf16_decode(data):
    return struct.unpack("<f", b"\0\0" + data)[0]


def packed(name, size, code):
    return Dtype(name, size, lambda value: struct.pack(code, value), lambda data: struct.unpack(code, data)[0])


float16 = packed("float16", 2, "<e")
float32 = packed("float32", 4, "<f")
float64 = packed("float64", 8, "<d")
bfloat16 = Dtype("bfloat16", 2, bf16_encode, bf16_decode)


class Tensor:
    def __init__(self, values, shape, dtype):
        self.values, self.shape, self.dtype = values, shape, dtype

    def to(self, dtype):
        return Tensor([dtype.decode(dtype.encode(value)) for value in self.values], self.shape, dtype)

    def float(self):
        return self.to(float32)

    def double(self):
        return self.to(float64)

    def reshape(self, *shape):
        return Tensor(self.values, shape, self.dtype)

    def cuda(self):
        return Tensor(list(self.values), self.shape, self.dtype)

    def cpu(self):
        synchronize()
        return self

    def contiguous(self):
        return self

    def numel(self):
        return len(self.values)

    def element_size(self):
        return self.dtype.size

    def data_ptr(self):
        data = b"".join(self.dtype.encode(value) for value in self.values)
        self.buffer = ctypes.create_string_buffer(data, len(data) or 1)
        return ctypes.addressof(self.buffer)

    def fill_(self, value):
        self.values[:] = [value] * len(self.values)

    def rows(self, reduce):
        count, columns = self.shape
        values = [reduce(self.values[row * columns : (row + 1) * columns]) for row in range(count)]
        return Tensor(values, (count, 1), self.dtype)

    def sum(self, dim, keepdim):
        assert dim == 1 and keepdim and self.dtype is float32, "sums accumulate in FP32"

        def add(values):
            total = 0.0
            for value in values:
                total = float32.decode(float32.encode(total + value))
            return total

        return self.rows(add)

    def amax(self, dim, keepdim):
        assert dim == 1 and keepdim
        return self.rows(lambda values: next((value for value in values if value != value), max(values)))


def frombuffer(data, dtype):
    values = [dtype.decode(bytes(data[at : at + dtype.size])) for at in range(0, len(data), dtype.size)]
    return Tensor(values, (len(values),), dtype)


class version:
    cuda = "13.0"


def compile(function, fullgraph, mode):
    assert fullgraph and mode == "max-autotune-no-cudagraphs"
    if FAULT == "no-compile":
        raise RuntimeError("Unsupported: the compiler gave up\nfrom user code:\n  line 1")
    cache = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    os.makedirs(os.path.join(cache, "ab"))
    for name in ["cabc.py", "cabc.cubin"]:
        with open(os.path.join(cache, "ab", name), "w") as file:
            file.write("kernel")

    from torch._dynamo.utils import counters

    counters["stats"]["unique_graphs"] = 1

    def call(x):
        output = function(x)
        if FAULT == "wrong":
            output.values[-1] += 64.0
        if FAULT == "nan":
            output.values[0] = float("nan")
        if FAULT == "shape":
            output.shape = (len(output.values),)
        cuda.input = x
        if cuda.capturing is not None:
            counters["fake"]["captured"] += 1
            cuda.capturing.last = (function, x, output)
        return output

    return call


class Device:
    """Works off what is queued: when it will be idle, on the host's clock in milliseconds."""

    idle = 0.0


def now():
    return time.perf_counter_ns() / 1e6


def synchronize():
    while now() < Device.idle:
        pass


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = max(now(), Device.idle)

    def synchronize(self):
        while now() < self.at:
            pass

    def elapsed_time(self, end):
        if FAULT == "changes-input":
            cuda.input.values[0] = 0.5
        return float32.decode(float32.encode(end.at - self.at))


class Graph:
    last = None

    def replay(self):
        Device.idle = max(now(), Device.idle) + REPLAY_MS
        function, x, output = self.last
        if FAULT != "late" and output.values[0] != output.values[0]:
            output.values[:] = function(x).values


class Stream:
    def wait_stream(self, other):
        pass


class cuda:
    capturing = None
    Event, CUDAGraph, Stream = Event, Graph, Stream
    synchronize = staticmethod(synchronize)

    @staticmethod
    def is_available():
        return FAULT != "no-cuda"

    @staticmethod
    def get_device_name():
        return "Fake H200"

    @staticmethod
    def get_device_capability():
        return (9, 0)

    @staticmethod
    def current_stream():
        return Stream()

    @staticmethod
    @contextlib.contextmanager
    def stream(side):
        yield

    @staticmethod
    @contextlib.contextmanager
    def graph(graph):
        cuda.capturing = graph
        yield
        cuda.capturing = None
