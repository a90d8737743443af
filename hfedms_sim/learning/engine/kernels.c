/* Training kernels for many chains at once: what an engine spends its time on once dense layers are low-rank.
 *
 * A chain is a model on its way through some sensors: it has private weights, and its samples of this step stand one
 * after another. `counts[g]` says how many belong to chain g (0 is allowed). What is computed for a chain depends on
 * nothing but that chain: the bits are the same whichever chains are in one call.
 *
 * Speed comes from five things.
 *
 * 1. Vectors. `vec` is GCC's and Clang's vector extension, as wide as the registers the file is compiled for: 4 floats
 *    (SSE2, NEON), 8 (AVX2) or 16 (AVX-512). There are no intrinsics. The build compiles this file once per instruction
 *    set into a library of its own, and system/native_library.py loads the one that fits the processor.
 *
 * 2. Fewer multiplications in the forward pass. A pooling window is a tile of 2x2 outputs that sees 6x6 inputs. For
 *    k = 5, Winograd's minimal filtering (S. Winograd, Arithmetic Complexity of Computations, 1980; for networks: A. Lavin
 *    and S. Gray, arXiv:1509.09308) computes such a tile as
 *
 *        Y = A' [ (G w G') . (B' d B) ] A        . is elementwise; summed over input channels before A
 *
 *    The usual F(2,5) needs 6 products a dimension, but its points 2 and 1/2 cost accuracy. We split the 5 taps into 3 + 2,
 *    F(2,3) with 4 products and F(2,2) with 3, whose transforms add and subtract only: 7 x 7 = 49 products for 2x2 outputs
 *    instead of 100, with the error of a plain sum. Where inputs are constant (the paper around a letter) the differences
 *    are exactly 0 and the four outputs exactly equal: ties in the pool are broken as in a plain sum. For each of the 49
 *    frequencies the sum over channels is a small matrix product, tiles x Cin by Cin x Cout. The tile is the pooling window:
 *    ReLU, maximum and its position are taken on the registers that hold Y. Other k, and few input channels, go through a
 *    plain loop that also keeps one window of outputs in registers (`plain_window`). Where only the pooled values are
 *    wanted, and no position that a tie could move, F(2,5) with the points 0, 1, -1, 2, -1/2 and infinity does: 36 products,
 *    and about twice the error of a plain sum over 16 channels or more.
 *
 * 3. Skipping in the backward pass. Max-pooling passes at most one delta in four, ReLU about half of these. So the
 *    non-zero deltas are listed, once by output channel and once by position, and
 *
 *        dW[c] += delta * patch(position)   over the list of channel c,       dW's row in registers
 *        dx patch(position) += delta * W[c] over the list of the position,    dx's row in registers
 *
 *    The input is cut into slices of 16 channels, each a padded image small enough for the L1 cache, in which the row of a
 *    patch is k * 16 consecutive floats. A mini-batch's gradient is complete before it meets the weights: adding each
 *    sample's to the larger weights would round each time.
 *
 * 4. Reading memory once. `dots` (rows of x times rows of a history) and `combine` (its transpose) hold all rows of the
 *    mini-batch while a history row passes. A classifier's mini-batches run one after another on one chain, so that its
 *    weights stay in the L2 cache between forward pass, update and the next step.
 *
 * 5. A dense layer in inference is one large product. Its weights are packed into panels of two vectors of outputs; a panel
 *    passes along the inputs once for every six rows of x, whose sums stay in registers for a stretch of inputs.
 *
 * Conventions: images are NHWC, convolution weights OHWI, padding is `same` with zeros, strides are in floats. A pooled
 * value's `argmax` is 0..3 in scan order, the first maximum wins, and 255 says that the ReLU is dead. NaN reaches the
 * pooled value. Scratch memory is taken once per call. A call returns OK or says what is wrong.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define ROUND_UP(n, step) (((n) + (step) - 1) / (step) * (step))

/* Keeps an address in a register, where the compiler would compute one anew for every vector read from it. */
#define PIN(pointer) __asm__("" : "+r"(pointer))

/* Brings what is needed next from memory to the L2 cache while this is computed; beyond the end it does nothing. */
#define FETCH(address) __builtin_prefetch(address, 0, 2)

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef float loose_vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * LANES)));
typedef uint8_t bytes __attribute__((vector_size(LANES)));

enum { OK, NO_MEMORY, BAD_COUNTS, BAD_RANKS, BAD_LABEL };
enum { DEAD = 255, INTERFACE = 3 };

INLINE vec load(const float *from) { return *(const loose_vec *)from; }
INLINE void store(float *to, vec value) { *(loose_vec *)to = value; }

INLINE float sum_lanes(vec value) {
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += value[lane];
    return sum;
}

/* Raised whenever an argument changes: an old library is then left alone. */
EXPORT int kernels_interface(void) { return INTERFACE; }

/* The best of the variants the build knows that this processor can run. */
EXPORT const char *kernels_best_variant(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "baseline";
}

/* ------------------------------------------------------------------------------------------------------ scratch */

struct scratch {
    void *blocks[12];
    int used, failed;
};

/* Zeroed, aligned to cache lines, with room for one vector behind the end: rows are read in whole vectors. */
static void *take(struct scratch *scratch, int64_t items) {
    size_t size = ROUND_UP((size_t)(items + 16) * 4, 64);
    void *block = aligned_alloc(64, size);
    if (!block) {
        scratch->failed = 1;
        return NULL;
    }
    scratch->blocks[scratch->used++] = block;
    return memset(block, 0, size);
}

static void give_back(struct scratch *scratch) {
    while (scratch->used) free(scratch->blocks[--scratch->used]);
}

/* ------------------------------------------------------------------------------------------------------- chains */

struct chains {
    int64_t count, samples;
};

static int add_up(const struct chains *chains, const int64_t *counts) {
    int64_t sum = 0;
    for (int64_t g = 0; g < chains->count; g++) {
        if (counts[g] < 0 || counts[g] > chains->samples - sum) return 0;
        sum += counts[g];
    }
    return sum == chains->samples;
}

/* ------------------------------------------------------------------------------------------------ padded images */

struct layer {
    int64_t height, width, in, out, k, channel_first; /* the last: of what is pooled, and of its deltas */
};

INLINE int64_t windows_of(const struct layer *layer) { return (layer->height / 2) * (layer->width / 2); }
INLINE int64_t padded_width(const struct layer *layer) { return layer->width + layer->k - 1; }
INLINE int64_t padded_pixels(const struct layer *layer) { return padded_width(layer) * (layer->height + layer->k - 1); }
INLINE int64_t weights_of(const struct layer *layer) { return layer->out * layer->k * layer->k * layer->in; }

/* Copies between an image and the inside of its padded form, cut into slices of `width` channels. */
INLINE void walk_slices(const struct layer *layer, int64_t width, float *image, float *padded, int into_padded) {
    int64_t margin = layer->k / 2;
    for (int64_t start = 0; start < layer->in; start += width, padded += padded_pixels(layer) * width) {
        int64_t channels = MIN(width, layer->in - start);
        for (int64_t y = 0; y < layer->height; y++) {
            float *inside = padded + ((y + margin) * padded_width(layer) + margin) * width;
            float *outside = image + y * layer->width * layer->in + start;
            if (channels == width && width == layer->in) { /* the whole row in one piece */
                size_t size = (size_t)(layer->width * width) * sizeof(float);
                into_padded ? memcpy(inside, outside, size) : memcpy(outside, inside, size);
                continue;
            }
            for (int64_t x = 0; x < layer->width; x++, inside += width, outside += layer->in)
                for (int64_t c = 0; c < channels; c++)
                    if (into_padded) inside[c] = outside[c];
                    else outside[c] = inside[c];
        }
    }
}

static void pad(const struct layer *layer, int64_t width, const float *image, float *padded) {
    walk_slices(layer, width, (float *)image, padded, 1);
}

static void unpad(const struct layer *layer, int64_t width, float *image, const float *padded) {
    walk_slices(layer, width, image, (float *)padded, 0);
}

/* -------------------------------------------------------------------------------------------- forward: the pool */

INLINE vec choose(mask where, vec yes, vec no) { return (vec)((where & (mask)yes) | (~where & (mask)no)); }

/* Where channel c's positions begin; they are not always wanted. */
INLINE uint8_t *of_channel(uint8_t *positions, int64_t c) { return positions ? positions + c : NULL; }

/* Maximum and ReLU of a window's four values: one output channel per lane. A NaN wins and stays. */
INLINE void pool(const vec values[4], float *pooled, uint8_t *argmax) {
    vec best = values[0];
    mask position = {0};
    for (int i = 1; i < 4; i++) {
        mask better = ~(values[i] <= best) & (best == best);
        best = choose(better, values[i], best);
        position = (better & i) | (~better & position);
    }
    mask dead = best <= 0;
    store(pooled, (vec)((mask)best & ~dead));
    if (!argmax) return;
    bytes narrow = __builtin_convertvector(position | dead, bytes); /* all ones: DEAD */
    memcpy(argmax, &narrow, LANES);
}

/* One window's values to their places. */
static void put_window(const struct layer *layer, int64_t sample, int64_t window, const float *restrict row,
                       const uint8_t *restrict positions, float *restrict pooled, uint8_t *restrict argmax) {
    int64_t windows = windows_of(layer), channels = layer->out, base = sample * windows * channels;
    int64_t step = layer->channel_first ? windows : 1, at = base + window * (layer->channel_first ? 1 : channels);
    for (int64_t c = 0; c < channels; c++) pooled[at + c * step] = row[c];
    if (!argmax) return;
    for (int64_t c = 0; c < channels; c++) argmax[at + c * step] = positions[c];
}

/* OHWI to [block][tap][LANES]: LANES output channels are a block, and a tap is (ky, kx, input channel). */
static void lanes_of_outputs(const struct layer *layer, const float *weights, float *to) {
    int64_t taps = layer->k * layer->k * layer->in;
    for (int64_t block = 0; block < layer->out; block += LANES, weights += LANES * taps, to += LANES * taps) {
        int64_t lanes = MIN(LANES, layer->out - block);
        if (lanes == LANES) /* the usual case, with a loop the compiler can unroll */
            for (int64_t tap = 0; tap < taps; tap++)
                for (int64_t lane = 0; lane < LANES; lane++) to[tap * LANES + lane] = weights[lane * taps + tap];
        else
            for (int64_t tap = 0; tap < taps; tap++)
                for (int64_t lane = 0; lane < lanes; lane++) to[tap * LANES + lane] = weights[lane * taps + tap];
    }
}

/* ------------------------------------------------------------------------------------------ forward: plain sums */

/* The four outputs of a window for `width` blocks of channels, which stay in registers. */
INLINE void plain_window(const struct layer *layer, const float *corner, const float *weights, const float *bias, float *row,
                         uint8_t *positions, const int width) {
    int64_t run = layer->k * layer->in, below = padded_width(layer) * layer->in, block = layer->k * run * LANES;
    vec sum[2][4];
    for (int j = 0; j < width; j++)
        for (int i = 0; i < 4; i++) sum[j][i] = load(bias + j * LANES);
    for (int64_t ky = 0; ky < layer->k; ky++, corner += below)
        for (int64_t tap = 0; tap < run; tap++, weights += LANES)
            for (int j = 0; j < width; j++) {
                vec weight = load(weights + j * block);
                sum[j][0] += weight * corner[tap];
                sum[j][1] += weight * corner[tap + layer->in];
                sum[j][2] += weight * corner[tap + below];
                sum[j][3] += weight * corner[tap + below + layer->in];
            }
    for (int j = 0; j < width; j++) pool(sum[j], row + j * LANES, of_channel(positions, j * LANES));
}

static void plain_forward(const struct layer *layer, const float *padded, const float *weights, const float *bias,
                          int64_t sample, float *row, uint8_t *positions, float *pooled, uint8_t *argmax) {
    int64_t lanes = ROUND_UP(layer->out, LANES), taps = layer->k * layer->k * layer->in, across = layer->width / 2;
    for (int64_t window = 0; window < windows_of(layer); window++) {
        const float *corner = padded + (window / across * 2 * padded_width(layer) + window % across * 2) * layer->in;
        int64_t c = 0;
        for (; c + 2 * LANES <= lanes; c += 2 * LANES)
            plain_window(layer, corner, weights + c * taps, bias + c, row + c, of_channel(positions, c), 2);
        if (c < lanes) plain_window(layer, corner, weights + c * taps, bias + c, row + c, of_channel(positions, c), 1);
        put_window(layer, sample, window, row, positions, pooled, argmax);
    }
}

/* --------------------------------------------------------------------------------------- forward: Winograd tiles */

enum { TILES = 12, TILE_GROUP = 6 };

/* Products a dimension: SPLIT takes 3 + 2 taps, WHOLE all five. Functions take one as a constant `side`. */
enum { WHOLE = 6, SPLIT = 7, MOST_PRODUCTS = SPLIT };

/* In one dimension: G, B' and A' of the explanation above. */
INLINE void transform_taps(vec to[MOST_PRODUCTS], const vec g[5], const int side) {
    if (side == SPLIT) {
        vec outer = (g[0] + g[2]) * 0.5f, inner = g[1] * 0.5f;
        to[0] = g[0], to[1] = outer + inner, to[2] = outer - inner, to[3] = g[2];
        to[4] = g[3], to[5] = g[3] + g[4], to[6] = g[4];
        return;
    }
    vec even = (g[0] + g[2]) + g[4], odd = g[1] + g[3];
    to[0] = g[0], to[1] = (even + odd) * (-1 / 6.f), to[2] = (even - odd) * (1 / 6.f), to[5] = g[4];
    to[3] = (g[0] + 2 * (g[1] + 2 * (g[2] + 2 * (g[3] + 2 * g[4])))) * (1 / 30.f);
    to[4] = (g[4] - 2 * (g[3] - 2 * (g[2] - 2 * (g[1] - 2 * g[0])))) * (-1 / 15.f);
}

INLINE void transform_inputs(vec to[MOST_PRODUCTS], const vec d[6], const int side) {
    if (side == SPLIT) {
        to[0] = d[0] - d[2], to[1] = d[1] + d[2], to[2] = d[2] - d[1], to[3] = d[1] - d[3];
        to[4] = d[3] - d[4], to[5] = d[4], to[6] = d[4] - d[5];
        return;
    }
    vec odd = d[1] - d[3], even = d[4] - d[2];
    to[0] = (d[0] + d[4]) + 1.5f * odd - 2 * d[2];
    to[1] = 2 * (d[4] - d[1]) - 5 * d[2] - d[3];
    to[2] = 2 * (d[4] + d[1]) - 5 * d[3] + d[2];
    to[3] = 2 * even - odd;
    to[4] = 2 * odd + even;
    to[5] = (d[1] + d[5]) - 1.5f * even - 2 * d[3];
}

INLINE void transform_products(vec to[2], const vec m[MOST_PRODUCTS], const int side) {
    if (side == SPLIT) {
        vec sum = m[1] + m[5];
        to[0] = sum + ((m[0] + m[2]) + m[4]);
        to[1] = sum - ((m[2] + m[3]) + m[6]);
        return;
    }
    to[0] = ((m[0] + m[1]) + (m[2] + m[3])) + m[4];
    to[1] = ((m[1] - m[2]) + 2 * m[3]) - 0.5f * m[4] + m[5];
}

/* [block][tap][LANES] weights of one chain to [frequency][block][in][LANES]. */
INLINE void weight_frequencies(const float *weights, int64_t in, int64_t lanes, float *to, int64_t plane, const int side) {
    for (int64_t block = 0; block < lanes; block += LANES, weights += 25 * in * LANES)
        for (int64_t i = 0; i < in; i++, to += LANES) {
            vec half[5][MOST_PRODUCTS], column[5], done[MOST_PRODUCTS];
            for (int y = 0; y < 5; y++) {
                for (int x = 0; x < 5; x++) column[x] = load(weights + ((y * 5 + x) * in + i) * LANES);
                transform_taps(half[y], column, side);
            }
            for (int x = 0; x < side; x++) {
                for (int y = 0; y < 5; y++) column[y] = half[y][x];
                transform_taps(done, column, side);
                for (int y = 0; y < side; y++) store(to + (y * side + x) * plane, done[y]);
            }
        }
}

/* The 6x6 inputs of a tile, all channels, to their place in [frequency][tile][in]. */
INLINE void tile_frequencies(const float *corner, int64_t row_stride, int64_t in, float *to, int64_t plane, const int side) {
    for (int64_t at = 0; at < in; at += LANES) {
        vec half[6][MOST_PRODUCTS], column[6], done[MOST_PRODUCTS];
        for (int y = 0; y < 6; y++) {
            for (int x = 0; x < 6; x++) column[x] = load(corner + y * row_stride + x * in + at);
            transform_inputs(half[y], column, side);
        }
        for (int x = 0; x < side; x++) {
            for (int y = 0; y < 6; y++) column[y] = half[y][x];
            transform_inputs(done, column, side);
            for (int y = 0; y < side; y++) store(to + (y * side + x) * plane + at, done[y]);
        }
    }
}

/* The products of a tile, in [frequency][tile][out], to its pooled row. */
INLINE void tile_outputs(const float *from, int64_t plane, const float *bias, int64_t lanes, float *row, uint8_t *positions,
                         const int side) {
    for (int64_t at = 0; at < lanes; at += LANES) {
        vec half[MOST_PRODUCTS][2], column[MOST_PRODUCTS], values[4];
        for (int y = 0; y < side; y++) {
            for (int x = 0; x < side; x++) column[x] = load(from + (y * side + x) * plane + at);
            transform_products(half[y], column, side);
        }
        for (int x = 0; x < 2; x++) {
            vec pair[2];
            for (int y = 0; y < side; y++) column[y] = half[y][x];
            transform_products(pair, column, side);
            values[x] = pair[0] + load(bias + at), values[2 + x] = pair[1] + load(bias + at);
        }
        pool(values, row + at, of_channel(positions, at));
    }
}

/* TILE_GROUP tiles by `width` blocks of output channels: the accumulators fill the registers. */
INLINE void tile_product(const float *tiles, int64_t tile_stride, const float *weights, int64_t depth, float *to,
                         int64_t to_stride, const int width) {
    vec sum[TILE_GROUP][2] = {0};
    for (int64_t c = 0; c < depth; c++, weights += LANES) {
        vec weight[2];
        for (int j = 0; j < width; j++) weight[j] = load(weights + j * depth * LANES);
        for (int i = 0; i < TILE_GROUP; i++)
            for (int j = 0; j < width; j++) sum[i][j] += weight[j] * tiles[i * tile_stride + c];
    }
    for (int i = 0; i < TILE_GROUP; i++)
        for (int j = 0; j < width; j++) store(to + i * to_stride + j * LANES, sum[i][j]);
}

struct winograd {
    int64_t depth, in, lanes; /* input channels; these and the output channels in whole vectors */
    int64_t weight_plane, tile_plane, product_plane; /* a line longer than needed: frequencies must not share cache sets */
    float *weights, *tiles, *products;
};

static void tile_products(const struct winograd *w, int64_t tiles, int frequencies) {
    for (int f = 0; f < frequencies; f++)
        for (int64_t t = 0; t < tiles; t += TILE_GROUP) {
            const float *from = w->tiles + f * w->tile_plane + t * w->in, *weights = w->weights + f * w->weight_plane;
            float *to = w->products + f * w->product_plane + t * w->lanes;
            int64_t c = 0;
            for (; c + 2 * LANES <= w->lanes; c += 2 * LANES)
                tile_product(from, w->in, weights + c * w->depth, w->depth, to + c, w->lanes, 2);
            if (c < w->lanes) tile_product(from, w->in, weights + c * w->depth, w->depth, to + c, w->lanes, 1);
        }
}

/* ------------------------------------------------------------------------------------------------------ forward */

struct forward {
    const struct layer *layer;
    int side;          /* of Winograd's transforms; 0: plain sums */
    int64_t in, lanes; /* padded numbers of channels */
    float *padded, *weights, *bias, *row;
    uint8_t *positions;
    struct winograd winograd;
};

static struct forward plan_forward(const struct layer *layer, int wants_argmax, struct scratch *scratch) {
    struct forward plan = {.layer = layer, .lanes = ROUND_UP(layer->out, LANES), .in = layer->in};
    int is_large = layer->in >= 16 && MIN(layer->height, layer->width) >= 8; /* a plain sum errs as well */
    if (layer->k == 5 && layer->in >= 4) plan.side = wants_argmax || !is_large ? SPLIT : WHOLE;
    if (plan.side) plan.in = ROUND_UP(layer->in, LANES);
    plan.padded = take(scratch, padded_pixels(layer) * plan.in);
    plan.weights = take(scratch, layer->k * layer->k * layer->in * plan.lanes);
    plan.bias = take(scratch, plan.lanes);
    plan.row = take(scratch, plan.lanes);
    if (wants_argmax) plan.positions = take(scratch, plan.lanes);
    if (plan.side) {
        struct winograd *w = &plan.winograd;
        int64_t frequencies = plan.side * plan.side;
        w->depth = layer->in, w->in = plan.in, w->lanes = plan.lanes;
        w->weight_plane = w->depth * w->lanes + 16;
        w->tile_plane = TILES * w->in + 16, w->product_plane = TILES * w->lanes + 16;
        w->weights = take(scratch, frequencies * w->weight_plane);
        w->tiles = take(scratch, frequencies * w->tile_plane);
        w->products = take(scratch, frequencies * w->product_plane);
    }
    return plan;
}

INLINE void winograd_forward(const struct forward *plan, const float *x, int64_t first, int64_t count, float *pooled,
                             uint8_t *argmax, const int side) {
    const struct layer *layer = plan->layer;
    const struct winograd *w = &plan->winograd;
    weight_frequencies(plan->weights, w->depth, w->lanes, w->weights, w->weight_plane, side);
    int64_t windows = windows_of(layer), across = layer->width / 2, row_stride = padded_width(layer) * plan->in;
    int64_t image = layer->height * layer->width * layer->in;
    for (int64_t start = 0; start < count * windows; start += TILES) {
        int64_t tiles = MIN(TILES, count * windows - start);
        for (int64_t t = 0; t < tiles; t++) {
            int64_t sample = (start + t) / windows, window = (start + t) % windows;
            if (window == 0) pad(layer, plan->in, x + (first + sample) * image, plan->padded);
            const float *corner = plan->padded + window / across * 2 * row_stride + window % across * 2 * plan->in;
            tile_frequencies(corner, row_stride, plan->in, w->tiles + t * w->in, w->tile_plane, side);
        }
        tile_products(w, tiles, side * side);
        for (int64_t t = 0; t < tiles; t++) {
            tile_outputs(w->products + t * w->lanes, w->product_plane, plan->bias, plan->lanes, plan->row, plan->positions,
                         side);
            put_window(layer, first + (start + t) / windows, (start + t) % windows, plan->row, plan->positions, pooled, argmax);
        }
    }
}

/* Without `argmax` only the values are computed, in fewer steps. */
EXPORT int conv_pool_forward(const struct chains *chains, const struct layer *layer, const int64_t *counts, const float *x,
                             const float *weights, const float *bias, float *pooled, uint8_t *argmax) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    struct scratch scratch = {0};
    struct forward plan = plan_forward(layer, argmax != NULL, &scratch);
    int64_t first = 0, image = layer->height * layer->width * layer->in;
    for (int64_t g = 0; g < chains->count && !scratch.failed; first += counts[g++]) {
        if (!counts[g]) continue;
        lanes_of_outputs(layer, weights + g * weights_of(layer), plan.weights);
        memcpy(plan.bias, bias + g * layer->out, (size_t)layer->out * sizeof(float));
        if (plan.side == SPLIT) winograd_forward(&plan, x, first, counts[g], pooled, argmax, SPLIT);
        if (plan.side == WHOLE) winograd_forward(&plan, x, first, counts[g], pooled, argmax, WHOLE);
        if (plan.side) continue;
        for (int64_t sample = first; sample < first + counts[g]; sample++) {
            pad(layer, layer->in, x + sample * image, plan.padded);
            plain_forward(layer, plan.padded, plan.weights, plan.bias, sample, plan.row, plan.positions, pooled, argmax);
        }
    }
    give_back(&scratch);
    return scratch.failed ? NO_MEMORY : OK;
}

/* ----------------------------------------------------------------------------------------------------- backward */

enum { SLICE = 16 };

struct entry {
    int32_t at; /* where its row begins, in floats */
    float delta;
};

struct backward {
    const struct layer *layer;
    int64_t slice, slices, row; /* channels of a slice; floats of a patch's row in it, in whole vectors */
    float *padded, *gradient, *bias_gradient, *weights, *padded_dx; /* weights and gradient: [slice][ky][out][row] */
    struct entry *by_channel, *by_position;
    int32_t *channel_counts, *positions, *ends; /* of lists by channel; of their entries; of lists by position */
    int32_t *corners;                           /* where a position's patch begins in a padded slice */
};

static struct backward plan_backward(const struct layer *layer, int wants_dx, struct scratch *scratch) {
    struct backward plan = {.layer = layer, .slice = MIN(layer->in, SLICE)};
    plan.slices = ROUND_UP(layer->in, plan.slice) / plan.slice;
    plan.row = ROUND_UP(layer->k * plan.slice, LANES);
    int64_t windows = windows_of(layer), image = plan.slices * padded_pixels(layer) * plan.slice;
    plan.padded = take(scratch, image);
    plan.gradient = take(scratch, plan.slices * layer->k * layer->out * plan.row);
    plan.bias_gradient = take(scratch, layer->out);
    plan.by_channel = take(scratch, 2 * layer->out * windows);
    plan.positions = take(scratch, layer->out * windows);
    plan.channel_counts = take(scratch, layer->out);
    plan.corners = take(scratch, 4 * windows);
    if (wants_dx) {
        plan.weights = take(scratch, plan.slices * layer->k * layer->out * plan.row);
        plan.padded_dx = take(scratch, image);
        plan.by_position = take(scratch, 2 * layer->out * windows);
        plan.ends = take(scratch, 4 * windows);
    }
    if (scratch->failed) return plan;
    for (int64_t i = 0; i < 4 * windows; i++) {
        int64_t across = layer->width / 2, y = i / 4 / across * 2 + i % 4 / 2, x = i / 4 % across * 2 + i % 2;
        plan.corners[i] = (int32_t)((y * padded_width(layer) + x) * plan.slice);
    }
    return plan;
}

/* Between OHWI and [slice][ky][out][row]: calls `each` on both places of a run of input channels. */
INLINE void walk_weights(const struct backward *plan, float *weights, float *sliced,
                         void each(float *restrict weights, float *restrict sliced, int64_t count, float rate), float rate) {
    const struct layer *layer = plan->layer;
    for (int64_t c = 0; c < layer->out; c++)
        for (int64_t ky = 0; ky < layer->k; ky++)
            for (int64_t kx = 0; kx < layer->k; kx++)
                for (int64_t s = 0; s < plan->slices; s++) {
                    float *there = sliced + ((s * layer->k + ky) * layer->out + c) * plan->row + kx * plan->slice;
                    int64_t channels = MIN(plan->slice, layer->in - s * plan->slice);
                    if (channels == SLICE) each(weights, there, SLICE, rate); /* a count the compiler can unroll */
                    else each(weights, there, channels, rate);
                    weights += channels;
                }
}

INLINE void cut(float *restrict weights, float *restrict sliced, int64_t count, float rate) {
    (void)rate;
    for (int64_t i = 0; i < count; i++) sliced[i] = weights[i];
}

INLINE void join(float *restrict weights, float *restrict sliced, int64_t count, float rate) {
    (void)rate;
    for (int64_t i = 0; i < count; i++) weights[i] = sliced[i];
}

INLINE void descend(float *restrict weights, float *restrict sliced, int64_t count, float rate) {
    for (int64_t i = 0; i < count; i++) weights[i] -= rate * sliced[i];
}

/* Appends a window's alive deltas to their channels' lists, without branches: which are alive cannot be predicted. What is
 * written after a list's end is overwritten or left. */
INLINE void list_window(const struct backward *plan, int64_t window, const float *restrict deltas,
                        const uint8_t *restrict argmax, int64_t stride) {
    int64_t windows = windows_of(plan->layer), channels = plan->layer->out;
    const int32_t *restrict corners = plan->corners;
    struct entry *restrict list = plan->by_channel;
    int32_t *restrict positions = plan->positions, *restrict counts = plan->channel_counts;
    for (int64_t c = 0, start = 0; c < channels; c++, start += windows, deltas += stride, argmax += stride) {
        int32_t position = (int32_t)(4 * window) + (*argmax & 3);
        int64_t end = start + counts[c];
        uint32_t bits;
        memcpy(&bits, deltas, sizeof bits);
        list[end] = (struct entry){corners[position], *deltas};
        positions[end] = position;
        counts[c] += (*argmax < 4) & ((bits << 1) != 0); /* alive, and neither 0 nor -0 */
    }
}

static void list_by_channel(const struct backward *plan, const float *deltas, const uint8_t *argmax) {
    int64_t windows = windows_of(plan->layer), channels = plan->layer->out;
    int64_t step = plan->layer->channel_first ? 1 : channels, stride = plan->layer->channel_first ? windows : 1;
    memset(plan->channel_counts, 0, (size_t)channels * sizeof(int32_t));
    for (int64_t w = 0; w < windows; w++) list_window(plan, w, deltas + w * step, argmax + w * step, stride);
    for (int64_t c = 0; c < channels; c++) {
        float sum = 0;
        for (int32_t e = 0; e < plan->channel_counts[c]; e++) sum += plan->by_channel[c * windows + e].delta;
        plan->bias_gradient[c] += sum;
    }
}

/* Sorts the lists by channel anew, by counting. In the end `ends[p]` is where the list of position p ends. */
static void list_by_position(const struct backward *plan) {
    int64_t windows = windows_of(plan->layer), channels = plan->layer->out;
    int32_t *restrict ends = plan->ends;
    memset(ends, 0, (size_t)(4 * windows) * sizeof(int32_t));
    for (int64_t c = 0; c < channels; c++)
        for (int64_t e = c * windows; e < c * windows + plan->channel_counts[c]; e++) ends[plan->positions[e]]++;
    for (int32_t p = 0, sum = 0, count; p < 4 * windows; p++, sum += count) count = ends[p], ends[p] = sum;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t e = c * windows; e < c * windows + plan->channel_counts[c]; e++)
            plan->by_position[ends[plan->positions[e]]++] =
                (struct entry){(int32_t)(c * plan->row), plan->by_channel[e].delta};
}

/* to += sum over the list of delta * the row it names: `rows` x `width` vectors, all in registers. */
INLINE void sum_rows(const struct entry *list, int64_t count, const float *from, int64_t from_stride, float *to,
                     int64_t to_stride, const int rows, const int width) {
    vec sum[10];
    for (int i = 0; i < rows * width; i++) sum[i] = load(to + i / width * to_stride + i % width * LANES);
    for (int64_t e = 0; e < count; e++) {
        const float *row = from + list[e].at;
        PIN(row);
        float delta = list[e].delta;
        for (int i = 0; i < rows * width; i++) sum[i] += load(row + i / width * from_stride + i % width * LANES) * delta;
    }
    for (int i = 0; i < rows * width; i++) store(to + i / width * to_stride + i % width * LANES, sum[i]);
}

static void sum_long_rows(const struct entry *list, int64_t count, const float *from, float *to, int64_t row) {
    int64_t done = 0;
    for (; done + 10 * LANES <= row; done += 10 * LANES) sum_rows(list, count, from + done, 0, to + done, 0, 1, 10);
    for (; done + 5 * LANES <= row; done += 5 * LANES) sum_rows(list, count, from + done, 0, to + done, 0, 1, 5);
    for (; done + 2 * LANES <= row; done += 2 * LANES) sum_rows(list, count, from + done, 0, to + done, 0, 1, 2);
    for (; done < row; done += LANES) sum_rows(list, count, from + done, 0, to + done, 0, 1, 1);
}

static void add_weight_gradient(const struct backward *plan) {
    const struct layer *layer = plan->layer;
    int64_t windows = windows_of(layer), below = padded_width(layer) * plan->slice, block = layer->out * plan->row;
    for (int64_t s = 0; s < plan->slices; s++)
        for (int64_t c = 0; c < layer->out; c++) {
            const struct entry *list = plan->by_channel + c * windows;
            const float *from = plan->padded + s * padded_pixels(layer) * plan->slice;
            float *to = plan->gradient + s * layer->k * block + c * plan->row;
            if (layer->k == 5 && plan->row == LANES)
                sum_rows(list, plan->channel_counts[c], from, below, to, block, 5, 1);
            else
                for (int64_t ky = 0; ky < layer->k; ky++)
                    sum_long_rows(list, plan->channel_counts[c], from + ky * below, to + ky * block, plan->row);
        }
}

static void add_input_gradient(const struct backward *plan) {
    const struct layer *layer = plan->layer;
    int64_t positions = 4 * windows_of(layer), below = padded_width(layer) * plan->slice, block = layer->out * plan->row;
    for (int64_t s = 0; s < plan->slices; s++)
        for (int64_t ky = 0; ky < layer->k; ky++) {
            const float *from = plan->weights + (s * layer->k + ky) * block;
            float *to = plan->padded_dx + s * padded_pixels(layer) * plan->slice + ky * below;
            for (int64_t p = 0, start = 0; p < positions; start = plan->ends[p++])
                if (plan->ends[p] > start)
                    sum_long_rows(plan->by_position + start, plan->ends[p] - start, from, to + plan->corners[p], plan->row);
        }
}

static void backward_sample(const struct backward *plan, const float *x, const float *deltas, const uint8_t *argmax,
                            float *dx) {
    const struct layer *layer = plan->layer;
    pad(layer, plan->slice, x, plan->padded);
    list_by_channel(plan, deltas, argmax);
    add_weight_gradient(plan);
    if (!dx) return;
    list_by_position(plan);
    memset(plan->padded_dx, 0, (size_t)(plan->slices * padded_pixels(layer) * plan->slice) * sizeof(float));
    add_input_gradient(plan);
    unpad(layer, plan->slice, dx, plan->padded_dx);
}

/* weights -= rate * gradient; with `weight_gradient` the gradients go there instead and the weights stay. */
EXPORT int conv_pool_backward(const struct chains *chains, const struct layer *layer, const int64_t *counts, const float *x,
                              const float *deltas, const uint8_t *argmax, float *weights, float *bias, float rate, float *dx,
                              float *weight_gradient, float *bias_gradient) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    struct scratch scratch = {0};
    struct backward plan = plan_backward(layer, dx != NULL, &scratch);
    int64_t image = layer->height * layer->width * layer->in, out = windows_of(layer) * layer->out;
    int64_t sample = 0, gradient = plan.slices * layer->k * layer->out * plan.row;
    for (int64_t g = 0; g < chains->count && !scratch.failed; g++) {
        float *own = weights + g * weights_of(layer), *own_bias = bias + g * layer->out;
        memset(plan.gradient, 0, (size_t)gradient * sizeof(float));
        memset(plan.bias_gradient, 0, (size_t)layer->out * sizeof(float));
        if (dx && counts[g]) walk_weights(&plan, own, plan.weights, cut, 0);
        for (int64_t end = sample + counts[g]; sample < end; sample++)
            backward_sample(&plan, x + sample * image, deltas + sample * out, argmax + sample * out,
                            dx ? dx + sample * image : NULL);
        if (weight_gradient) {
            walk_weights(&plan, weight_gradient + g * weights_of(layer), plan.gradient, join, 0);
            memcpy(bias_gradient + g * layer->out, plan.bias_gradient, (size_t)layer->out * sizeof(float));
        } else if (counts[g]) {
            walk_weights(&plan, own, plan.gradient, descend, rate);
            for (int64_t c = 0; c < layer->out; c++) own_bias[c] -= rate * plan.bias_gradient[c];
        }
    }
    give_back(&scratch);
    return scratch.failed ? NO_MEMORY : OK;
}

/* -------------------------------------------------------------------------------------- skinny products: history */

/* to[i][j] = x[i] . rows[j], for `count` rows of x and `wide` others, all sums in registers. */
INLINE void dots_block(const float *x, int64_t x_stride, const float *rows, int64_t row_stride, int64_t length, float *to,
                       int64_t to_stride, const int count, const int wide) {
    vec sum[16] = {0};
    int64_t at = 0;
    for (; at + LANES <= length; at += LANES) {
        vec row[2];
        for (int j = 0; j < wide; j++) {
            row[j] = load(rows + j * row_stride + at);
            FETCH(rows + (wide + j) * row_stride + at);
        }
        for (int i = 0; i < count; i++) {
            vec own = load(x + i * x_stride + at);
            for (int j = 0; j < wide; j++) sum[i * wide + j] += own * row[j];
        }
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < wide; j++) {
            float total = sum_lanes(sum[i * wide + j]);
            for (int64_t rest = at; rest < length; rest++) total += x[i * x_stride + rest] * rows[j * row_stride + rest];
            to[i * to_stride + j] = total;
        }
}

/* `count` is at most 6, `wide` at most 2: more sums would not fit the registers. */
static void dots_some(const float *x, int64_t x_stride, int64_t count, const float *rows, int64_t row_stride, int64_t wide,
                      int64_t length, float *to, int64_t to_stride) {
#define DOTS(count, wide)                                                                   \
    case 2 * (count) + (wide):                                                              \
        dots_block(x, x_stride, rows, row_stride, length, to, to_stride, count, wide); \
        break
    switch (2 * count + wide) {
        DOTS(1, 1); DOTS(2, 1); DOTS(3, 1); DOTS(4, 1); DOTS(5, 1); DOTS(6, 1);
        DOTS(1, 2); DOTS(2, 2); DOTS(3, 2); DOTS(4, 2); DOTS(5, 2); DOTS(6, 2);
    }
}

/* to[i][j] = x[i] . rows[j]. Two rows at a time meet all of x while they are in the cache: each is read from memory once. */
static void dots(const float *x, int64_t x_stride, int64_t count, const float *rows, int64_t row_stride, int64_t rank,
                 int64_t length, float *to, int64_t to_stride) {
    int64_t parts = ROUND_UP(count, 6) / 6, most = parts ? ROUND_UP(count, parts) / parts : 0;
    for (int64_t j = 0; j < rank; j += 2)
        for (int64_t i = 0; i < count; i += most)
            dots_some(x + i * x_stride, x_stride, MIN(most, count - i), rows + j * row_stride, row_stride, MIN(2, rank - j),
                      length, to + i * to_stride + j, to_stride);
}

enum { ROWS = 8, COLUMNS = 512 };

/* sum[0..length) = or += the `count` rows of d, each times its p: p's stay in registers. */
INLINE void combine_block(const float *restrict p, int64_t p_stride, const float *restrict d, int64_t d_stride, int64_t length,
                          float *restrict sum, int fresh, const int count) {
    vec factor[ROWS];
    for (int j = 0; j < count; j++) factor[j] = (vec){0} + p[j * p_stride];
    int64_t at = 0;
    for (; at + LANES <= length; at += LANES) {
        vec total = fresh ? (vec){0} : load(sum + at);
        for (int j = 0; j < count; j++) total += load(d + j * d_stride + at) * factor[j];
        store(sum + at, total);
    }
    for (; at < length; at++) {
        float total = fresh ? 0 : sum[at];
        for (int j = 0; j < count; j++) total += d[j * d_stride + at] * p[j * p_stride];
        sum[at] = total;
    }
}

static void combine_some(const float *p, int64_t p_stride, const float *d, int64_t d_stride, int64_t length, float *sum,
                         int fresh, int64_t count) {
#define SOME(count)                                                             \
    case count:                                                                 \
        combine_block(p, p_stride, d, d_stride, length, sum, fresh, count); \
        break
    switch (count) { SOME(1); SOME(2); SOME(3); SOME(4); SOME(5); SOME(6); SOME(7); SOME(8); }
}

/* y[i] += scale * sum over j of p[i][j] * d[j]. The sum is complete before it meets y. Columns go through the L1 cache
 * piece by piece; `sums` holds one piece of every row of y. */
static void combine(const float *p, int64_t p_row, int64_t p_column, int64_t count, const float *d, int64_t d_stride,
                    int64_t rank, int64_t length, float scale, float *y, int64_t y_stride, float *sums) {
    if (!rank) return;
    for (int64_t start = 0; start < length; start += COLUMNS) {
        int64_t columns = MIN(COLUMNS, length - start);
        for (int64_t j = 0; j < rank; j += ROWS)
            for (int64_t i = 0; i < count; i++) {
                for (int64_t next = j + ROWS + i; next < MIN(j + 2 * ROWS, rank); next += count)
                    for (int64_t at = 0; at < columns; at += 16) FETCH(d + next * d_stride + start + at);
                combine_some(p + i * p_row + j * p_column, p_column, d + j * d_stride + start, d_stride, columns,
                             sums + i * COLUMNS, j == 0, MIN(ROWS, rank - j));
            }
        for (int64_t i = 0; i < count; i++)
            for (int64_t at = 0; at < columns; at++) y[i * y_stride + start + at] += scale * sums[i * COLUMNS + at];
    }
}

struct history {
    int64_t capacity, inputs, outputs, input_stride, output_stride; /* strides: from chain to chain, in floats */
};

static int bad_ranks(const struct chains *chains, const struct history *history, const int64_t *ranks) {
    for (int64_t g = 0; g < chains->count; g++)
        if (ranks[g] < 0 || ranks[g] > history->capacity) return 1;
    return 0;
}

static int64_t largest(const int64_t *counts, int64_t chains) {
    int64_t found = 0;
    for (int64_t g = 0; g < chains; g++)
        if (counts[g] > found) found = counts[g];
    return found;
}

/* products[i][j] = x[i] . inputs[j] of its chain; entries from the chain's rank on are left alone. */
EXPORT int history_dots(const struct chains *chains, const struct history *history, const int64_t *counts, const int64_t *ranks,
                        const float *x, const float *inputs, float *products) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    if (bad_ranks(chains, history, ranks)) return BAD_RANKS;
    int64_t first = 0;
    for (int64_t g = 0; g < chains->count; first += counts[g++])
        dots(x + first * history->inputs, history->inputs, counts[g], inputs + g * history->input_stride, history->inputs,
             ranks[g], history->inputs, products + first * history->capacity, history->capacity);
    return OK;
}

/* y[i] += scale * sum over j of products[i][j] * outputs[j] of its chain. */
EXPORT int history_add(const struct chains *chains, const struct history *history, const int64_t *counts, const int64_t *ranks,
                       const float *products, const float *outputs, float scale, float *y) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    if (bad_ranks(chains, history, ranks)) return BAD_RANKS;
    struct scratch scratch = {0};
    float *sums = take(&scratch, largest(counts, chains->count) * COLUMNS);
    int64_t first = 0;
    for (int64_t g = 0; g < chains->count && !scratch.failed; first += counts[g++])
        combine(products + first * history->capacity, history->capacity, 1, counts[g], outputs + g * history->output_stride,
                history->outputs, ranks[g], history->outputs, scale, y + first * history->outputs, history->outputs, sums);
    give_back(&scratch);
    return scratch.failed ? NO_MEMORY : OK;
}

/* Both, chain by chain: y[i] += scale * sum over j of (x[i] . inputs[j]) * outputs[j]. */
EXPORT int history_correct(const struct chains *chains, const struct history *history, const int64_t *counts,
                           const int64_t *ranks, const float *x, const float *inputs, const float *outputs, float scale,
                           float *y) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    if (bad_ranks(chains, history, ranks)) return BAD_RANKS;
    struct scratch scratch = {0};
    int64_t most = largest(counts, chains->count), width = history->capacity, first = 0;
    float *sums = take(&scratch, most * COLUMNS), *products = take(&scratch, most * width);
    for (int64_t g = 0; g < chains->count && !scratch.failed; first += counts[g++]) {
        dots(x + first * history->inputs, history->inputs, counts[g], inputs + g * history->input_stride, history->inputs,
             ranks[g], history->inputs, products, width);
        combine(products, width, 1, counts[g], outputs + g * history->output_stride, history->outputs, ranks[g],
                history->outputs, scale, y + first * history->outputs, history->outputs, sums);
    }
    give_back(&scratch);
    return scratch.failed ? NO_MEMORY : OK;
}

/* --------------------------------------------------------------------------------------------------- classifiers */

struct classifier {
    int64_t features, classes, batch; /* samples of a mini-batch; a chain's last one may be shorter */
};

/* Logits to (softmax - one-hot) / count. */
static void softmax_delta(float *logits, int64_t classes, int64_t label, int64_t count) {
    float top = logits[0], sum = 0;
    for (int64_t c = 1; c < classes; c++) top = logits[c] > top ? logits[c] : top;
    for (int64_t c = 0; c < classes; c++) sum += logits[c] = expf(logits[c] - top);
    for (int64_t c = 0; c < classes; c++) logits[c] = (logits[c] / sum - (c == label)) / (float)count;
}

/* w -= rate * delta' x: a class's gradient is complete before it meets the weights. */
static void descend_classifier(const struct classifier *shape, const float *deltas, const float *x, int64_t count, float rate,
                               float *weights, float *bias, float *sums) {
    for (int64_t c = 0; c < shape->classes; c++) {
        combine(deltas + c, shape->classes, shape->classes, 1, x, shape->features, count, shape->features, -rate,
                weights + c * shape->features, shape->features, sums);
        float sum = 0;
        for (int64_t i = 0; i < count; i++) sum += deltas[i * shape->classes + c];
        bias[c] -= rate * sum;
    }
}

/* One mini-batch: logits, gradient of the softmax cross-entropy, update. */
static void train_batch(const struct classifier *shape, const float *x, const int64_t *labels, int64_t count, float rate,
                        float *weights, float *bias, float *deltas, float *sums) {
    int64_t features = shape->features, classes = shape->classes;
    dots(x, features, count, weights, features, classes, features, deltas, classes);
    for (int64_t i = 0; i < count; i++) {
        float *row = deltas + i * classes;
        for (int64_t c = 0; c < classes; c++) row[c] += bias[c];
        softmax_delta(row, classes, labels[i], count);
    }
    descend_classifier(shape, deltas, x, count, rate, weights, bias, sums);
}

/* Every chain's samples in mini-batches, one step each. */
EXPORT int classifier_steps(const struct chains *chains, const struct classifier *shape, const int64_t *counts, const float *x,
                            const int64_t *labels, float *weights, float *bias, float rate) {
    if (!add_up(chains, counts)) return BAD_COUNTS;
    for (int64_t i = 0; i < chains->samples; i++)
        if (labels[i] < 0 || labels[i] >= shape->classes) return BAD_LABEL;
    struct scratch scratch = {0};
    int64_t features = shape->features, sample = 0;
    int64_t most = MIN(shape->batch, largest(counts, chains->count));
    float *deltas = take(&scratch, most * shape->classes), *sums = take(&scratch, most * COLUMNS);
    for (int64_t g = 0; g < chains->count && !scratch.failed; g++)
        for (int64_t end = sample + counts[g], count; sample < end; sample += count) {
            count = MIN(shape->batch, end - sample);
            train_batch(shape, x + sample * features, labels + sample, count, rate,
                        weights + g * shape->classes * features, bias + g * shape->classes, deltas, sums);
        }
    give_back(&scratch);
    return scratch.failed ? NO_MEMORY : OK;
}

/* ---------------------------------------------------------------------------------------- dense layers in inference */

enum { PANEL = 2 * LANES, PANEL_ROWS = 6, STRETCH = 256 };

struct dense {
    int64_t rows, inputs, outputs;
};

/* (outputs, inputs) to [panel][input][PANEL], filled up with zeros. */
EXPORT int dense_pack(const struct dense *shape, const float *restrict weights, float *restrict packed) {
    int64_t inputs = shape->inputs;
    for (int64_t n = 0; n < shape->outputs; n += PANEL, weights += PANEL * inputs, packed += PANEL * inputs)
        for (int64_t j = 0; j < PANEL; j++)
            for (int64_t i = 0; i < inputs; i++)
                packed[i * PANEL + j] = n + j < shape->outputs ? weights[j * inputs + i] : 0;
    return OK;
}

/* y = max(0, x panel + bias) for `rows` rows of x: a NaN stays. Sums over a stretch of inputs are complete before they meet
 * the total, which rounds more the larger it is. */
INLINE void panel_product(const float *x, int64_t inputs, const float *panel, const float *bias, float *y, int64_t y_stride,
                          const int rows) {
    vec total[PANEL_ROWS][2], sum[PANEL_ROWS][2];
    for (int i = 0; i < rows; i++) total[i][0] = load(bias), total[i][1] = load(bias + LANES);
    for (int64_t start = 0; start < inputs; start += STRETCH) {
        for (int i = 0; i < rows; i++) sum[i][0] = sum[i][1] = (vec){0};
        for (int64_t c = start; c < MIN(start + STRETCH, inputs); c++, panel += PANEL) {
            vec left = load(panel), right = load(panel + LANES);
            for (int i = 0; i < rows; i++) sum[i][0] += left * x[i * inputs + c], sum[i][1] += right * x[i * inputs + c];
        }
        for (int i = 0; i < rows; i++) total[i][0] += sum[i][0], total[i][1] += sum[i][1];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) store(y + i * y_stride + j * LANES, (vec)((mask)total[i][j] & ~(total[i][j] <= 0)));
}

static void panel_rows(const float *x, int64_t inputs, const float *panel, const float *bias, float *y, int64_t y_stride,
                       int64_t rows) {
#define PRODUCT(rows)                                                     \
    case rows:                                                            \
        panel_product(x, inputs, panel, bias, y, y_stride, rows); \
        break
    switch (rows) { PRODUCT(1); PRODUCT(2); PRODUCT(3); PRODUCT(4); PRODUCT(5); PRODUCT(6); }
}

/* y = max(0, x weights' + bias). */
EXPORT int dense_relu(const struct dense *shape, const float *x, const float *packed, const float *bias, float *y) {
    int64_t inputs = shape->inputs, outputs = shape->outputs;
    for (int64_t n = 0; n < outputs; n += PANEL, packed += PANEL * inputs) {
        int64_t width = MIN(PANEL, outputs - n);
        float own_bias[PANEL] = {0}, last[PANEL_ROWS * PANEL];
        memcpy(own_bias, bias + n, (size_t)width * sizeof(float));
        for (int64_t row = 0; row < shape->rows; row += PANEL_ROWS) {
            int64_t rows = MIN(PANEL_ROWS, shape->rows - row);
            float *to = y + row * outputs + n;
            if (width == PANEL) {
                panel_rows(x + row * inputs, inputs, packed, own_bias, to, outputs, rows);
                continue;
            }
            panel_rows(x + row * inputs, inputs, packed, own_bias, last, PANEL, rows);
            for (int64_t i = 0; i < rows; i++) memcpy(to + i * outputs, last + i * PANEL, (size_t)width * sizeof(float));
        }
    }
    return OK;
}
