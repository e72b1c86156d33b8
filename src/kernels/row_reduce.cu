// Row reductions: one program reduces PROGRAM rows of COLUMNS values, each with GROUP threads, to one value per row.
//
// Before this text come definitions of one case:
//   STORAGE  0 FP16, 1 BF16, 2 FP32     MAXIMUM  0 sum, 1 maximum
//   ROWS, COLUMNS                       ALIGNED  1 if every row begins at a multiple of 16 bytes
// After it come the entries. Nothing is assumed of ROWS, COLUMNS, PROGRAM and, unless ALIGNED, of addresses beyond the
// storage type's own alignment.
//
// Sums are of FP32 terms in FP32, in a fixed order, rounded once to storage. A maximum is one of the values, so the 16-bit
// types are compared in pairs as they are; NaN wins over everything, +0 over -0.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#if STORAGE == 2
typedef u32 storage;
#else
typedef u16 storage;
#endif

constexpr int LANES = 16 / sizeof(storage);  // values of a vector
constexpr int UNROLLED = 8;                  // vectors of a thread in flight at once

#if STORAGE == 0
constexpr u32 LOWEST = 0xfc00fc00u;
#elif STORAGE == 1
constexpr u32 LOWEST = 0xff80ff80u;
#else
constexpr u32 LOWEST = 0xff800000u;
#endif
constexpr u32 FILL = MAXIMUM ? LOWEST : 0u;  // what stands for values beyond a row: minus infinity, or zero

struct Vector {
    u32 words[4];
};

__device__ __forceinline__ Vector load(const void* address) {
    Vector v;
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
                 : "l"(address));
    return v;
}

// Keeps the values [from, to) of a vector.
__device__ __forceinline__ void keep(Vector& v, int from, int to) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
#if STORAGE == 2
        if (w < from || w >= to) v.words[w] = FILL;
#else
        const u32 low = 2 * w < from || 2 * w >= to ? 0x0000ffffu : 0u;
        const u32 high = 2 * w + 1 < from || 2 * w + 1 >= to ? 0xffff0000u : 0u;
        v.words[w] = (v.words[w] & ~(low | high)) | (FILL & (low | high));
#endif
    }
}

#if MAXIMUM

// An order-preserving key of a value; NaN, made canonical by max.NaN before, has the largest.
typedef int Part;
constexpr Part NEUTRAL = (int)0x80000000;

__device__ __forceinline__ u32 larger(u32 a, u32 b) {
    u32 r;
#if STORAGE == 0
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#elif STORAGE == 1
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    asm("{.reg .f32 x, y; mov.b32 x, %1; mov.b32 y, %2; max.NaN.f32 x, x, y; mov.b32 %0, x;}" : "=r"(r) : "r"(a), "r"(b));
#endif
    return r;
}

__device__ __forceinline__ Part combine(Part a, Part b) { return max(a, b); }

template <int COUNT>
__device__ __forceinline__ Part fold(Vector (&v)[COUNT]) {
    u32 m = FILL;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const u32 n = larger(larger(v[i].words[0], v[i].words[1]), larger(v[i].words[2], v[i].words[3]));
        m = i == 0 ? n : larger(m, n);
    }
#if STORAGE == 2
    return (int)m ^ (((int)m >> 31) & 0x7fffffff);
#else
    int low = (int)(short)(m & 0xffffu), high = (int)m >> 16;
    low ^= (low >> 31) & 0x7fff;
    high ^= (high >> 31) & 0x7fff;
    return max(low, high);
#endif
}

__device__ __forceinline__ storage rounded(Part key) {
#if STORAGE == 2
    return (u32)(key ^ ((key >> 31) & 0x7fffffff));
#else
    return (u16)(key ^ ((key >> 31) & 0x7fff));
#endif
}

#else

typedef float Part;
constexpr Part NEUTRAL = 0.0f;

__device__ __forceinline__ Part combine(Part a, Part b) { return a + b; }

__device__ __forceinline__ float sum_of_word(u32 word) {
#if STORAGE == 0
    float low, high;
    asm("{.reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(word));
    return low + high;
#elif STORAGE == 1
    return __uint_as_float(word << 16) + __uint_as_float(word & 0xffff0000u);
#else
    return __uint_as_float(word);
#endif
}

template <int COUNT>
__device__ __forceinline__ Part fold(Vector (&v)[COUNT]) {
    float sums[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        sums[i] = (sum_of_word(v[i].words[0]) + sum_of_word(v[i].words[1])) +
                  (sum_of_word(v[i].words[2]) + sum_of_word(v[i].words[3]));
#pragma unroll
    for (int apart = 1; apart < COUNT; apart *= 2)
#pragma unroll
        for (int i = 0; i + apart < COUNT; i += 2 * apart) sums[i] += sums[i + apart];
    return sums[0];
}

__device__ __forceinline__ storage rounded(Part sum) {
    u16 r;
#if STORAGE == 0
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(sum));
    return r;
#elif STORAGE == 1
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(sum));
    return r;
#else
    return __float_as_uint(sum);
#endif
}

#endif

// The part of a row that one of its GROUP threads reads.
template <int GROUP>
__device__ __forceinline__ Part part_of_row(const storage* row, int lane, bool live) {
    constexpr int MOST = (COLUMNS + LANES - 1) / LANES + (ALIGNED ? 0 : 1);
    constexpr int EACH = (MOST + GROUP - 1) / GROUP;
    constexpr int CHUNK = EACH < UNROLLED ? EACH : UNROLLED;
    // A row that begins between two multiples of 16 bytes is read from the one before: never beyond the vectors that hold
    // its own values.
    const int skipped = ALIGNED ? 0 : (int)((u64)row % 16) / (int)sizeof(storage);
    const int vectors = ALIGNED ? MOST : (skipped + COLUMNS + LANES - 1) / LANES;
    const char* base = (const char*)row - skipped * (int)sizeof(storage) + (u64)lane * 16;
    Part part = NEUTRAL;
#pragma unroll 1
    for (int first = 0; first < EACH; first += CHUNK) {
        Vector v[CHUNK];
#pragma unroll
        for (int i = 0; i < CHUNK; ++i) {
#pragma unroll
            for (int w = 0; w < 4; ++w) v[i].words[w] = FILL;
            const int at = lane + (first + i) * GROUP;
            const bool surely = EACH <= CHUNK && (i + 1) * GROUP <= MOST - (ALIGNED ? 0 : 1);
            if (live && (surely || at < vectors)) v[i] = load(base + (u64)(first + i) * GROUP * 16);
        }
#pragma unroll
        for (int i = 0; i < CHUNK; ++i) {
            if (ALIGNED && COLUMNS % LANES == 0) continue;
            const bool inner = EACH <= CHUNK && i > 0 && (i + 1) * GROUP < COLUMNS / LANES;
            if (inner) continue;
            const int begin = (lane + (first + i) * GROUP) * LANES - skipped;
            if (begin < 0 || begin + LANES > COLUMNS) keep(v[i], -begin, COLUMNS - begin);
        }
        const Part folded = fold(v);
        part = EACH <= CHUNK ? folded : combine(part, folded);
    }
    return part;
}

// Reduces the rows of this program. OVERLAP lets the next operation in the stream begin before this one ends; ORDERED makes
// the store wait for the operation before, without which overlapping operations race (a test shows it, with SPIN cycles
// before the store).
template <int PROGRAM, int GROUP, bool OVERLAP = false, bool ORDERED = true, int SPIN = 0>
__device__ __forceinline__ void reduce(const storage* __restrict__ input, storage* output) {
    constexpr int WARPS = GROUP > 32 ? GROUP / 32 : 1;
    constexpr int WIDTH = GROUP < 32 ? GROUP : 32;
    constexpr int FITTING = 1024 / GROUP;
    constexpr int AT_ONCE = PROGRAM < FITTING ? PROGRAM : FITTING;
    constexpr int THREADS = (AT_ONCE * GROUP + 31) / 32 * 32;
    constexpr bool ONE_PASS = AT_ONCE == PROGRAM;
    __shared__ Part parts[AT_ONCE * WARPS];
    if (OVERLAP) asm volatile("griddepcontrol.launch_dependents;");
    // Launched with a warp to spare: where one ends at once, operations were found to follow each other faster.
    if (OVERLAP && threadIdx.x >= THREADS) return;
    const int lane = threadIdx.x % GROUP;
    const int slot = threadIdx.x / GROUP;
#pragma unroll 1
    for (int pass = 0; pass < PROGRAM; pass += AT_ONCE) {
        const u32 row = blockIdx.x * PROGRAM + pass + slot;
        const bool inside = (AT_ONCE * GROUP == THREADS || slot < AT_ONCE) && (ONE_PASS || pass + slot < PROGRAM);
        const bool live = inside && (ROWS % PROGRAM == 0 || row < ROWS);
        Part part = part_of_row<GROUP>(input + (u64)row * COLUMNS, lane, live);
#if MAXIMUM
        if (WIDTH == 32) {
            part = __reduce_max_sync(0xffffffffu, part);
        } else
#endif
        {
#pragma unroll
            for (int apart = WIDTH / 2; apart > 0; apart /= 2) part = combine(part, __shfl_xor_sync(0xffffffffu, part, apart));
        }
        u32 target = row;
        bool stores = live && lane == 0;
        if (WARPS > 1) {
            if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
            if (ONE_PASS && threadIdx.x >= 32) {
                asm volatile("bar.arrive 1, %0;" ::"n"(THREADS) : "memory");
                return;
            }
            asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
            target = blockIdx.x * PROGRAM + pass + threadIdx.x;
            stores = threadIdx.x < AT_ONCE && pass + threadIdx.x < PROGRAM && (ROWS % PROGRAM == 0 || target < ROWS);
            if (stores) {
                Part of_warps[WARPS];
#pragma unroll
                for (int w = 0; w < WARPS; ++w) of_warps[w] = parts[threadIdx.x * WARPS + w];
#pragma unroll
                for (int apart = 1; apart < WARPS; apart *= 2)
#pragma unroll
                    for (int w = 0; w + apart < WARPS; w += 2 * apart) of_warps[w] = combine(of_warps[w], of_warps[w + apart]);
                part = of_warps[0];
            }
        }
        if (SPIN > 0) {
            const long long begin = clock64();
            while (clock64() - begin < SPIN) {
            }
        }
        const storage value = rounded(part);
        storage* const address = output + target;
        if (OVERLAP) {
            if (ONE_PASS && !stores) return;
            // All that the store needs is there before the wait: what comes after it delays the next operation.
#if STORAGE == 2
            asm volatile("" ::"l"(address), "r"(value));
#else
            asm volatile("" ::"l"(address), "h"(value));
#endif
            // The fence keeps the assembler from moving the wait up, before the loads.
            if (ORDERED) asm volatile("membar.cta;\n\tgriddepcontrol.wait;" ::: "memory");
        }
        if (stores) *address = value;
        if (!ONE_PASS && WARPS > 1) asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
    }
}
