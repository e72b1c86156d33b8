// The input gradient of bilinear grid_sample (zeros padding, align_corners=False) as PyTorch's own kernel computes it:
// one thread for each output point, FP32 atomic additions in whatever order they arrive. Its bits differ from run to run;
// that is what the protocol measures. `out` must be zero.

extern "C" __global__ void __launch_bounds__(256) grid_sample_atomic(
    const float* grad, const float2* grid, float* out, int images, int channels, int points, int width, int height
) {
    size_t area = (size_t)width * height;
    size_t total = (size_t)images * points;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += (size_t)gridDim.x * blockDim.x) {
        size_t image = at / points, p = at - image * points;
        float2 where = grid[at];
        float x = __fmul_rn(__fmaf_rn(__fadd_rn(where.x, 1.0f), (float)width, -1.0f), 0.5f);
        float y = __fmul_rn(__fmaf_rn(__fadd_rn(where.y, 1.0f), (float)height, -1.0f), 0.5f);
        int left = __float2int_rz(floorf(x)), top = __float2int_rz(floorf(y));
        int right = left + 1, bottom = top + 1;
        float x0 = __fsub_rn((float)right, x), x1 = __fsub_rn(x, (float)left);
        float y0 = __fsub_rn((float)bottom, y), y1 = __fsub_rn(y, (float)top);
        bool in_left = (unsigned)left < (unsigned)width, in_right = (unsigned)right < (unsigned)width;
        bool in_top = (unsigned)top < (unsigned)height, in_bottom = (unsigned)bottom < (unsigned)height;
        const float* g = grad + image * channels * points + p;
        float* plane = out + image * channels * area;
        for (int c = 0; c < channels; c++, g += points, plane += area) {
            float value = *g;
            if (in_top && in_left) atomicAdd(&plane[(size_t)top * width + left], __fmul_rn(__fmul_rn(x0, y0), value));
            if (in_top && in_right) atomicAdd(&plane[(size_t)top * width + right], __fmul_rn(__fmul_rn(x1, y0), value));
            if (in_bottom && in_left) atomicAdd(&plane[(size_t)bottom * width + left], __fmul_rn(__fmul_rn(x0, y1), value));
            if (in_bottom && in_right) atomicAdd(&plane[(size_t)bottom * width + right], __fmul_rn(__fmul_rn(x1, y1), value));
        }
    }
}
