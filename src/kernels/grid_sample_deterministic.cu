// The input gradient of bilinear grid_sample (zeros padding, align_corners=False), the same bits whatever the scheduling.
//
// Every contribution becomes a 64-bit integer before it is added, and integer addition does not depend on the order:
//
//   result = RN32( quantum * sum over contributions of (2^LO * hi + lo) ),   quantum = 2^(e - HI - LO)
//
// where 2^e is the power of two above the largest finite |grad_output| of the plane (a maximum does not depend on the
// order, either), hi = RN(w * g * 2^(HI-e)) and lo = RN(RN32(w * g * 2^(HI-e) - hi) * 2^LO). The partition of the work into
// blocks appears nowhere in this formula, so every route below gives the same bits on every device; the host computes it,
// too (`bench::divergence::fixed_point`), and the tests compare.
//
// No counter can overflow. Weights are in [0, 1] and |g| < 2^e, so |hi| <= 2^HI = 2^18 and |lo| <= 2^(LO-1) = 2^18. One
// output point adds at most one contribution to a coordinate (its four corners are four coordinates), so a block that adds
// at most 8191 points to its 32-bit counters keeps them within 8191 * 2^18 < 2^31; it empties them into 64 bits before
// taking more. A 64-bit sum of fewer than 2^25 points stays below 2^25 * 2^37 + 2^25 * 2^18 < 2^63.
//
// NaN and infinity: a contribution that is not finite sets one of three sticky flags of its coordinate (NaN, +inf, -inf).
// NaN, or both infinities, give NaN; one infinity gives that infinity: what any order of additions gives. Finite
// contributions whose sum leaves FP32's range give the infinity of its sign.
//
// Coordinates: the cell is found by PyTorch's own arithmetic, so that the corners touched, and the weights that are zero,
// are the same. The fraction within the cell is computed again with one rounding: PyTorch's `x + 1` rounds away up to
// 2^-24, which is 1e-6 of a cell at a width of 32, far more than the summation loses.

typedef unsigned int u32;
typedef unsigned long long u64;

#define HI_BITS 18
#define LO_BITS 19
#define MAX_POINTS_PER_ROUND 8191
#define MAGIC 12582912.0f        // 1.5 * 2^23: adding it rounds to an integer and leaves that integer in the low bits
#define MAGIC_BITS 0x4B400000
#define FLT_LARGEST 3.402823466e38f
#define FLAG_NAN 1u
#define FLAG_PLUS 2u
#define FLAG_MINUS 4u

// ---- one axis ------------------------------------------------------------------------------------------------------

struct Axis {
    int cell;        // the lower corner; the upper one is one more
    float fraction;  // weight of the upper corner, in [0, 1]; strictly within where PyTorch's is
    bool nan;        // the coordinate is NaN: all weights are
};

__device__ __forceinline__ Axis locate(float coordinate, float extent, float half, float half_less) {
    // PyTorch's ((x + 1) * W - 1) / 2, contracted as nvcc does.
    float at = __fmul_rn(__fmaf_rn(__fadd_rn(coordinate, 1.0f), extent, -1.0f), 0.5f);
    float lower = floorf(at);
    float fraction = __fmaf_rn(coordinate, half, __fsub_rn(half_less, lower));
    fraction = fminf(fmaxf(fraction, 5.9604645e-8f), 0.99999994f);
    Axis axis;
    axis.cell = __float2int_rz(lower);  // saturates; NaN gives 0, as in PyTorch's kernel
    axis.fraction = at == lower ? 0.0f : fraction;
    axis.nan = at != at;
    return axis;
}

struct Shape {
    int width, height;
    float extent_x, half_x, less_x, extent_y, half_y, less_y;
};

__device__ __forceinline__ Shape shape_of(int width, int height) {
    Shape s;
    s.width = width;
    s.height = height;
    s.extent_x = (float)width;
    s.half_x = 0.5f * s.extent_x;
    s.less_x = s.half_x - 0.5f;
    s.extent_y = (float)height;
    s.half_y = 0.5f * s.extent_y;
    s.less_y = s.half_y - 0.5f;
    return s;
}

// ---- the scale -----------------------------------------------------------------------------------------------------

__device__ __forceinline__ u32 magnitude_bits(float value) {
    u32 bits = __float_as_uint(value) & 0x7FFFFFFFu;
    return bits < 0x7F800000u ? bits : 0u;
}

// Exponent e with max < 2^e. Denormals share the one of the smallest normal numbers: their quantum is below the smallest
// denormal anyway.
__device__ __forceinline__ int exponent_above(u32 max_bits) {
    int biased = (int)(max_bits >> 23);
    return (biased < 1 ? 1 : biased) - 126;
}

struct Scale {
    float first, second;  // their product is 2^(HI-e), which FP32 alone cannot hold for small e
    int exponent;         // of the quantum
};

__device__ __forceinline__ Scale scale_of(u32 max_bits) {
    int e = exponent_above(max_bits);
    int up = HI_BITS - e;                    // -110 ..= 143
    int first = up > 120 ? 120 : up;
    Scale s;
    s.first = __uint_as_float((u32)(first + 127) << 23);
    s.second = __uint_as_float((u32)(up - first + 127) << 23);
    s.exponent = e - HI_BITS - LO_BITS;
    return s;
}

__device__ __forceinline__ void split(float weight, float scaled, int& hi, int& lo) {
    float rounded = __fmaf_rn(weight, scaled, MAGIC);
    float rest = __fmaf_rn(weight, scaled, -__fsub_rn(rounded, MAGIC));
    hi = __float_as_int(rounded) - MAGIC_BITS;
    lo = __float_as_int(__fmaf_rn(rest, (float)(1 << LO_BITS), MAGIC)) - MAGIC_BITS;
}

__device__ __forceinline__ float finish(long long sum, u32 flags, int exponent) {
    if (flags) {
        if ((flags & FLAG_NAN) || (flags & (FLAG_PLUS | FLAG_MINUS)) == (FLAG_PLUS | FLAG_MINUS)) {
            return __uint_as_float(0x7FFFFFFFu);
        }
        return __uint_as_float(flags & FLAG_PLUS ? 0x7F800000u : 0xFF800000u);
    }
    // Both factors and, but for the rounding of the sum to 53 bits, the product are exact in binary64.
    double scaled = __ll2double_rn(sum) * __longlong_as_double((long long)(exponent + 1023) << 52);
    return __double2float_rn(scaled) + 0.0f;  // a sum that vanished is +0.0, as one that starts from 0.0 is
}

__device__ __forceinline__ u32 class_of(float value) {
    if (value != value) return FLAG_NAN;
    return value > 0.0f ? FLAG_PLUS : FLAG_MINUS;
}

// ---- corners -------------------------------------------------------------------------------------------------------

// All four corners of a point, as coordinates of the plane.
struct AllCorners {
    template <class Add>
    __device__ __forceinline__ void operator()(const Axis& x, const Axis& y, const Shape& s, Add add) const {
        bool left = (u32)x.cell < (u32)s.width, right = (u32)(x.cell + 1) < (u32)s.width;
        bool top = (u32)y.cell < (u32)s.height, bottom = (u32)(y.cell + 1) < (u32)s.height;
        float x1 = x.fraction, x0 = 1.0f - x1, y1 = y.fraction, y0 = 1.0f - y1;
        int at = y.cell * s.width + x.cell;
        if (top && left) add(at, __fmul_rn(x0, y0));
        if (top && right) add(at + 1, __fmul_rn(x1, y0));
        if (bottom && left) add(at + s.width, __fmul_rn(x0, y1));
        if (bottom && right) add(at + s.width + 1, __fmul_rn(x1, y1));
    }
};

// The one corner whose column and row have the given parities, as a coordinate among those that do.
struct OneCorner {
    int odd_column, odd_row, half_width;
    template <class Add>
    __device__ __forceinline__ void operator()(const Axis& x, const Axis& y, const Shape& s, Add add) const {
        int right = (x.cell ^ odd_column) & 1, down = (y.cell ^ odd_row) & 1;
        int column = x.cell + right, row = y.cell + down;
        float x_weight = right ? x.fraction : 1.0f - x.fraction, y_weight = down ? y.fraction : 1.0f - y.fraction;
        if ((u32)column < (u32)s.width && (u32)row < (u32)s.height) {
            add((row >> 1) * half_width + (column >> 1), __fmul_rn(x_weight, y_weight));
        }
    }
};

// The class of weight * g for a point that is not finite.
__device__ __forceinline__ u32 bad_class(float weight, float g, bool nan) {
    return nan ? FLAG_NAN : class_of(__fmul_rn(weight, g));
}

__device__ __forceinline__ bool is_bad(float g, bool nan) {
    return nan || !(fabsf(g) <= FLT_LARGEST);
}

__device__ __forceinline__ void set_flag(u32* flags, int at, u32 value) {
    atomicOr(&flags[at >> 3], value << ((at & 7) * 4));
}

__device__ __forceinline__ u32 get_flag(u32 word, int at) {
    return (word >> ((at & 7) * 4)) & 15u;
}

// Adds one point to a block's counters.
template <class Corners>
__device__ __forceinline__ void scatter(
    Corners corners, float2 where, float g, const Shape& s, const Scale& scale, int* hi, int* lo, u32* flags, int* any_bad
) {
    Axis x = locate(where.x, s.extent_x, s.half_x, s.less_x);
    Axis y = locate(where.y, s.extent_y, s.half_y, s.less_y);
    bool nan = x.nan || y.nan;
    if (is_bad(g, nan)) {
        *any_bad = 1;
        corners(x, y, s, [&](int at, float weight) { set_flag(flags, at, bad_class(weight, g, nan)); });
        return;
    }
    float scaled = __fmul_rn(__fmul_rn(g, scale.first), scale.second);
    corners(x, y, s, [&](int at, float weight) {
        int h, l;
        split(weight, scaled, h, l);
        atomicAdd(&hi[at], h);
        atomicAdd(&lo[at], l);
    });
}

__device__ __forceinline__ u32 warp_max(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xFFFFFFFFu, value);
#else
    for (int step = 16; step > 0; step >>= 1) {
        u32 other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = other > value ? other : value;
    }
    return value;
#endif
}

__device__ __forceinline__ long long joined(int hi, int lo) {
    return (long long)hi * (1 << LO_BITS) + lo;
}

// The points `start + threadIdx.x + k * blockDim.x` before `end`; in place of others one that touches nothing.
template <int PPT>
__device__ __forceinline__ void load(
    float* g, float2* where, const float* g_plane, const float2* where_plane, int start, int end
) {
#pragma unroll
    for (int k = 0; k < PPT; k++) {
        int p = start + threadIdx.x + k * blockDim.x;
        g[k] = p < end ? g_plane[p] : 0.0f;
        where[k] = p < end ? where_plane[p] : make_float2(-4.0f, -4.0f);
    }
}

// ---- Route "block": at most PPT * blockDim.x points ------------------------------------------------------------------
//
// Four blocks for each plane, one for each parity of column and row: of the four corners of a point exactly one belongs to
// each, so that every block does a quarter of the additions, and none waits for another. Maximum, counters and sums stay in
// shared memory; nothing but the result is written, and no workspace is needed.
// Shared memory: hi[area], lo[area], flags, of a quarter of the plane, rounded up.
template <int PPT>
__device__ __forceinline__ void block_route(
    const float* grad, const float2* grid, float* out, int channels, int points, int width, int height
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int any_bad;
    __shared__ u32 maxima[32];
    int plane = blockIdx.x >> 2;
    OneCorner corner = {(int)(blockIdx.x & 1), (int)(blockIdx.x >> 1 & 1), (width + 1) >> 1};
    int area = corner.half_width * ((height + 1) >> 1);
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    int words = (area + 7) >> 3;
    int* hi = (int*)memory;
    int* lo = hi + area;
    u32* flags = (u32*)(lo + area);
    Shape s = shape_of(width, height);
    const float* g_plane = grad + (size_t)plane * points;
    const float2* where_plane = grid + (size_t)(plane / channels) * points;
    float g[PPT];
    float2 where[PPT];
    load<PPT>(g, where, g_plane, where_plane, 0, points);
    if (threadIdx.x == 0) any_bad = 0;
    for (int i = threadIdx.x; i < 2 * area + words; i += blockDim.x) hi[i] = 0;
    u32 largest = 0;
#pragma unroll
    for (int k = 0; k < PPT; k++) largest = max(largest, magnitude_bits(g[k]));
    largest = warp_max(largest);
    if (lane == 0) maxima[warp] = largest;
    __syncthreads();
    largest = warp_max(lane < warps ? maxima[lane] : 0u);
    Scale scale = scale_of(largest);
#pragma unroll
    for (int k = 0; k < PPT; k++) scatter(corner, where[k], g[k], s, scale, hi, lo, flags, &any_bad);
    __syncthreads();
    float* out_plane = out + (size_t)plane * width * height;
    for (int i = threadIdx.x; i < area; i += blockDim.x) {
        int row = i / corner.half_width, column = 2 * (i - row * corner.half_width) + corner.odd_column;
        row = 2 * row + corner.odd_row;
        if (row < height && column < width) {
            u32 flag = any_bad ? get_flag(flags[i >> 3], i) : 0u;
            out_plane[row * width + column] = finish(joined(hi[i], lo[i]), flag, scale.exponent);
        }
    }
}

// ---- Route "grid" ----------------------------------------------------------------------------------------------------
//
// `ctas` blocks for each plane, all resident at once (a cooperative launch) because they wait for one
// another's maxima; any number of points. The workspace of a plane is zero before and after every launch but for the
// number of launches: acc[area] (64-bit), slots[ctas] (64-bit: launch number, maximum), flags, counter, launches.
template <int PPT>
__device__ __forceinline__ void grid_route(
    const float* grad, const float2* grid, float* out, int channels, int points, int width, int height, int ctas,
    u64* workspace, int stride
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int any_bad, is_last;
    __shared__ u32 maxima[32];
    int area = width * height;
    int plane = blockIdx.x / ctas, rank = blockIdx.x - plane * ctas;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    int words = (area + 7) >> 3;
    int* hi = (int*)memory;
    int* lo = hi + area;
    u32* flags = (u32*)(lo + area);
    u64* acc = workspace + (size_t)plane * stride;
    volatile u64* slots = acc + area;
    u32* shared_flags = (u32*)(acc + area + ctas);
    u32* counter = shared_flags + words;
    volatile u32* launches = counter + 1;
    Shape s = shape_of(width, height);
    const float* g_plane = grad + (size_t)plane * points;
    const float2* where_plane = grid + (size_t)(plane / channels) * points;
    int slice = (points + ctas - 1) / ctas;
    int first = rank * slice, end = min(first + slice, points);
    int round = min((int)blockDim.x * PPT, MAX_POINTS_PER_ROUND / (int)blockDim.x * (int)blockDim.x);
    u32 tag = *launches + 1;
    float g[PPT];
    float2 where[PPT];
    load<PPT>(g, where, g_plane, where_plane, first, min(end, first + round));
    if (threadIdx.x == 0) any_bad = 0;
    for (int i = threadIdx.x; i < 2 * area + words; i += blockDim.x) hi[i] = 0;
    u32 largest = 0;
#pragma unroll
    for (int k = 0; k < PPT; k++) largest = max(largest, magnitude_bits(g[k]));
    for (int p = first + round + threadIdx.x; p < end; p += blockDim.x) largest = max(largest, magnitude_bits(g_plane[p]));
    largest = warp_max(largest);
    if (lane == 0) maxima[warp] = largest;
    __syncthreads();
    largest = warp_max(lane < warps ? maxima[lane] : 0u);
    if (ctas > 1) {
        if (threadIdx.x == 0) slots[rank] = (u64)tag << 32 | largest;
        __syncthreads();  // everyone has read `maxima`
        if (warp == 0) {
            largest = 0;
            for (int i = lane; i < ctas; i += 32) {
                u64 slot;
                do { slot = slots[i]; } while ((u32)(slot >> 32) != tag);
                largest = max(largest, (u32)slot);
            }
            largest = warp_max(largest);
            if (lane == 0) maxima[0] = largest;
        }
        __syncthreads();
        largest = maxima[0];
    }
    Scale scale = scale_of(largest);
    for (int start = first; start < end; start += round) {
        if (start > first) load<PPT>(g, where, g_plane, where_plane, start, min(end, start + round));
#pragma unroll
        for (int k = 0; k < PPT; k++) scatter(AllCorners(), where[k], g[k], s, scale, hi, lo, flags, &any_bad);
        __syncthreads();
        bool more = start + round < end;
        for (int i = threadIdx.x; i < area; i += blockDim.x) {
            long long sum = joined(hi[i], lo[i]);
            if (sum) atomicAdd(&acc[i], (u64)sum);
            if (more) hi[i] = lo[i] = 0;
        }
        if (more) __syncthreads();
    }
    if (any_bad) {
        for (int i = threadIdx.x; i < words; i += blockDim.x) {
            if (flags[i]) atomicOr(&shared_flags[i], flags[i]);
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(counter, 1u) == (u32)ctas - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    float* out_plane = out + (size_t)plane * area;
    for (int i = threadIdx.x; i < area; i += blockDim.x) {
        u32 flag = get_flag(__ldcg(&shared_flags[i >> 3]), i);
        out_plane[i] = finish((long long)__ldcg(&acc[i]), flag, scale.exponent);
        acc[i] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) shared_flags[i] = 0;
    if (threadIdx.x == 0) {
        *counter = 0;
        *launches = tag;
    }
}

#define ROUTES(PPT)                                                                                                     \
    extern "C" __global__ void __launch_bounds__(1024) deterministic_block_##PPT(                                       \
        const float* grad, const float2* grid, float* out, int channels, int points, int width, int height              \
    ) {                                                                                                                 \
        block_route<PPT>(grad, grid, out, channels, points, width, height);                                             \
    }                                                                                                                   \
    extern "C" __global__ void __launch_bounds__(1024) deterministic_grid_##PPT(                                        \
        const float* grad, const float2* grid, float* out, int channels, int points, int width, int height, int ctas,   \
        u64* workspace, int stride                                                                                      \
    ) {                                                                                                                 \
        grid_route<PPT>(grad, grid, out, channels, points, width, height, ctas, workspace, stride);                     \
    }

ROUTES(1)
ROUTES(2)
ROUTES(4)
ROUTES(6)

// ---- Route "global": planes too large for a block's shared memory; 64-bit counters in global memory ------------------

// `maxima` of the planes must be zero.
extern "C" __global__ void __launch_bounds__(256) deterministic_global_max(
    const float* grad, int points, u32* maxima
) {
    const float* g = grad + (size_t)blockIdx.y * points;
    u32 largest = 0;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < points; p += gridDim.x * blockDim.x) {
        largest = max(largest, magnitude_bits(g[p]));
    }
    largest = warp_max(largest);
    if ((threadIdx.x & 31) == 0 && largest) atomicMax(&maxima[blockIdx.y], largest);
}

// `acc` and `flags` must be zero.
extern "C" __global__ void __launch_bounds__(256) deterministic_global_scatter(
    const float* grad, const float2* grid, int channels, int points, int width, int height, const u32* maxima, u64* acc,
    u32* flags
) {
    int plane = blockIdx.y;
    size_t area = (size_t)width * height;
    size_t words = (area + 7) >> 3;
    const float* g_plane = grad + (size_t)plane * points;
    const float2* where = grid + (size_t)(plane / channels) * points;
    u64* acc_plane = acc + area * plane;
    u32* flags_plane = flags + words * plane;
    Scale scale = scale_of(maxima[plane]);
    Shape s = shape_of(width, height);
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < points; p += gridDim.x * blockDim.x) {
        float g = g_plane[p];
        Axis x = locate(where[p].x, s.extent_x, s.half_x, s.less_x);
        Axis y = locate(where[p].y, s.extent_y, s.half_y, s.less_y);
        bool nan = x.nan || y.nan;
        if (is_bad(g, nan)) {
            AllCorners()(x, y, s, [&](int at, float weight) { set_flag(flags_plane, at, bad_class(weight, g, nan)); });
            continue;
        }
        float scaled = __fmul_rn(__fmul_rn(g, scale.first), scale.second);
        AllCorners()(x, y, s, [&](int at, float weight) {
            int h, l;
            split(weight, scaled, h, l);
            atomicAdd(&acc_plane[at], (u64)joined(h, l));
        });
    }
}

// Converts, and clears `acc` and `flags` for the next launch. A block handles whole words of flags.
extern "C" __global__ void __launch_bounds__(256) deterministic_global_finish(
    float* out, int area, const u32* maxima, u64* acc, u32* flags
) {
    int plane = blockIdx.y;
    int words = (area + 7) >> 3;
    int exponent = scale_of(maxima[plane]).exponent;
    for (int word = blockIdx.x * blockDim.x + threadIdx.x; word < words; word += gridDim.x * blockDim.x) {
        u32 flag = flags[(size_t)plane * words + word];
        for (int i = word * 8; i < min(word * 8 + 8, area); i++) {
            size_t at = (size_t)plane * area + i;
            out[at] = finish((long long)acc[at], get_flag(flag, i), exponent);
            acc[at] = 0;
        }
        flags[(size_t)plane * words + word] = 0;
    }
}
