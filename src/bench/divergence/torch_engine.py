"""The torch engine of `recount divergence run`: grid_sample backward on the first CUDA device.

Speaks lines of JSON. The first argument is a folder with `config.json` ({"shape": [N, C, H, W]}) and the inputs as raw
little-endian FP32 (`input.f32`, `grid-R.f32`, `grad-output-R.f32`). Answers with one line that says what it runs on, then
with one line or more for each request on standard input:
  {"do": "measure", "arm": NAME, "resolution": R, "trials": T}  -> {"trial": i} ..., {"done": true}; gradients in out.f32
  {"do": "time", "resolution": R, "operations": n, "spans": s, "span_ms": t, "warm_up": w} -> {"replays": r, "span_ms": [...]}
An answer with "error" ends the process; so does the end of standard input.
"""

import ctypes
import json
import math
import os
import signal
import sys
import threading

LOAD_STREAMS = 4
LOAD_EXTENT = 4096


def main():
    # The caller decides what an interrupt from the terminal means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever libraries print must not end up between the answers.
    os.dup2(2, 1)

    def answer(**members):
        answers.write(json.dumps(members) + "\n")
        answers.flush()

    try:
        engine = Engine(sys.argv[1])
        answer(**engine.describe())
        for line in sys.stdin:
            request = json.loads(line)
            if request["do"] == "measure":
                engine.measure(request, answer)
            else:
                answer(**engine.time(request))
    except ImportError as error:
        answer(error="this interpreter has no torch (%s)" % error, missing=True)
    except Missing as error:
        answer(error=str(error), missing=True)
    except Exception as error:  # the caller reports it
        answer(error="%s: %s" % (type(error).__name__, error), missing=False)


class Missing(Exception):
    """Something that the engine needs is not here."""


class Engine:
    def __init__(self, folder):
        import torch

        self.torch = torch
        self.folder = folder
        if not torch.cuda.is_available():
            raise Missing("torch %s sees no CUDA device" % torch.__version__)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.shape = json.load(file)["shape"]
        torch.backends.cuda.matmul.allow_tf32 = False
        self.input = self.load("input", self.shape)

    def load(self, name, shape):
        with open(os.path.join(self.folder, name + ".f32"), "rb") as file:
            data = bytearray(file.read())
        return self.torch.frombuffer(data, dtype=self.torch.float32).reshape(shape).cuda()

    def geometry(self, resolution):
        images, channels = self.shape[0], self.shape[1]
        grid = self.load("grid-%d" % resolution, [images, resolution, resolution, 2])
        gradient = self.load("grad-output-%d" % resolution, [images, channels, resolution, resolution])
        return grid, gradient

    def backward(self, grid, gradient):
        source = self.input.detach().requires_grad_(True)
        output = self.torch.nn.functional.grid_sample(
            source, grid, mode="bilinear", padding_mode="zeros", align_corners=False
        )
        output.backward(gradient)
        return source.grad

    def describe(self):
        torch = self.torch
        major, minor = torch.cuda.get_device_capability()
        setting = "torch.use_deterministic_algorithms(True)"
        return {
            "environment": {
                "device_name": torch.cuda.get_device_name(),
                "pytorch_version": str(torch.__version__),
                "cuda_version": torch.version.cuda,
                "cudnn_version": torch.backends.cudnn.version(),
                "compute_capability": "%d.%d" % (major, minor),
                "driver": driver_version(),
                "python_version": "%d.%d.%d" % sys.version_info[:3],
            },
            "probe": {"setting": setting, "result": self.probe()},
        }

    def probe(self):
        """What the operation does where deterministic algorithms are asked for; the first line of an error."""
        torch = self.torch
        grid = torch.zeros([self.shape[0], 1, 1, 2], device="cuda")
        gradient = torch.ones([self.shape[0], self.shape[1], 1, 1], device="cuda")
        torch.use_deterministic_algorithms(True)
        try:
            self.backward(grid, gradient)
            torch.cuda.current_stream().synchronize()
            return "backward completed"
        except RuntimeError as error:
            first = str(error).splitlines()[0]
            return "RuntimeError: " + first.split(". ")[0].split(", but")[0].rstrip(".")
        finally:
            torch.use_deterministic_algorithms(False)

    def measure(self, request, answer):
        torch = self.torch
        grid, gradient = self.geometry(request["resolution"])
        load = Load(torch) if request["arm"] == "background-matmul" else None
        try:
            self.backward(grid, gradient)
            torch.cuda.current_stream().synchronize()
            with open(os.path.join(self.folder, "out.f32"), "wb") as file:
                for trial in range(request["trials"]):
                    result = self.backward(grid, gradient)
                    torch.cuda.current_stream().synchronize()
                    file.write(raw_bytes(result))
                    answer(trial=trial)
        finally:
            if load is not None:
                load.stop()
        answer(done=True)

    def time(self, request):
        torch = self.torch
        grid, gradient = self.geometry(request["resolution"])

        def operation():
            torch.ops.aten.grid_sampler_2d_backward(gradient, self.input, grid, 0, 0, False, [True, False])

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                operation()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(request["operations"]):
                operation()

        def span(replays):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(replays):
                graph.replay()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end)

        span(request["warm_up"])
        first = span(request["warm_up"])
        replays = math.ceil(request["span_ms"] / max(first, 1e-6) * request["warm_up"])
        replays = min(max(replays, 1), 100000)
        return {"replays": replays, "span_ms": [span(replays) for _ in range(request["spans"])]}


class Load:
    """Four streams of FP32 matrix products from another host thread, which waits for each of its streams."""

    def __init__(self, torch):
        self.torch = torch
        self.stopping = threading.Event()
        self.running = threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.running.wait()
        if self.failure is not None:
            self.stop()

    def run(self):
        torch = self.torch
        try:
            streams = [torch.cuda.Stream() for _ in range(LOAD_STREAMS)]
            left = torch.rand(LOAD_EXTENT, LOAD_EXTENT, device="cuda")
            right = torch.rand(LOAD_EXTENT, LOAD_EXTENT, device="cuda")
            products = [torch.empty_like(left) for _ in streams]
            torch.cuda.current_stream().synchronize()
            while not self.stopping.is_set():
                for stream, product in zip(streams, products):
                    with torch.cuda.stream(stream):
                        torch.mm(left, right, out=product)
                self.running.set()
                for stream in streams:
                    stream.synchronize()
        except Exception as error:
            self.failure = error
        finally:
            self.running.set()

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.failure is not None:
            raise RuntimeError("the background products failed: %s" % self.failure)


def raw_bytes(tensor):
    """The values of a tensor as bytes, without NumPy."""
    host = tensor.cpu().contiguous()
    return ctypes.string_at(host.data_ptr(), host.numel() * host.element_size())


def driver_version():
    """The CUDA version that the driver supports, such as 13.0."""
    try:
        version = ctypes.c_int()
        library = ctypes.CDLL("libcuda.so.1" if os.name == "posix" else "nvcuda.dll")
        if library.cuDriverGetVersion(ctypes.byref(version)) != 0:
            return None
        return "%d.%d" % (version.value // 1000, version.value % 1000 // 10)
    except OSError:
        return None


main()
