// A plain FP32 product of square matrices whose extent is a multiple of 64: the load of the background arm. Nothing reads
// its result.

#define TILE 64
#define DEPTH 16

extern "C" __global__ void __launch_bounds__(256) matmul(const float* a, const float* b, float* c, int extent) {
    __shared__ float left[DEPTH][TILE + 4];
    __shared__ float right[DEPTH][TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    int x = (threadIdx.x & 15) * 4, y = (threadIdx.x >> 4) * 4;
    float sums[4][4] = {};
    for (int k = 0; k < extent; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += 256) {
            left[i % DEPTH][i / DEPTH] = a[(size_t)(row + i / DEPTH) * extent + k + i % DEPTH];
            right[i / TILE][i % TILE] = b[(size_t)(k + i / TILE) * extent + column + i % TILE];
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) sums[i][j] += left[d][y + i] * right[d][x + j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) c[(size_t)(row + y + i) * extent + column + x + j] = sums[i][j];
    }
}
