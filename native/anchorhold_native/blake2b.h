/* BLAKE2b with a digest of 16 bytes and no key (RFC 7693), fed byte by byte.

   A key is made for nearly every fact. Going through Python for it means a text that is put together, its encoding, a
   hash object and its result; here the parts of the text go into the hash's block as they are.  */

#ifndef ANCHORHOLD_BLAKE2B_H
#define ANCHORHOLD_BLAKE2B_H

#include <stdint.h>
#include <string.h>

#define HASH_BLOCK 128
#define HASH_DIGEST 16

typedef struct {
    uint64_t state[8];
    uint64_t count; /* bytes before the block; fewer than 2^64, so that the upper half of the counter stays 0 */
    size_t filled;  /* bytes in the block */
    uint8_t block[HASH_BLOCK];
} hash_t;

static const uint64_t hash_start[8] = {
    0x6a09e667f3bcc908ULL, 0xbb67ae8584caa73bULL, 0x3c6ef372fe94f82bULL, 0xa54ff53a5f1d36f1ULL,
    0x510e527fade682d1ULL, 0x9b05688c2b3e6c1fULL, 0x1f83d9abfb41bd6bULL, 0x5be0cd19137e2179ULL,
};

static const uint8_t hash_order[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

static inline uint64_t hash_turn(uint64_t word, int by) { return (word >> by) | (word << (64 - by)); }

#define HASH_MIX(a, b, c, d, x, y)                                                                                     \
    do {                                                                                                               \
        v[a] += v[b] + (x);                                                                                            \
        v[d] = hash_turn(v[d] ^ v[a], 32);                                                                             \
        v[c] += v[d];                                                                                                  \
        v[b] = hash_turn(v[b] ^ v[c], 24);                                                                             \
        v[a] += v[b] + (y);                                                                                            \
        v[d] = hash_turn(v[d] ^ v[a], 16);                                                                             \
        v[c] += v[d];                                                                                                  \
        v[b] = hash_turn(v[b] ^ v[c], 63);                                                                             \
    } while (0)

static void hash_compress(hash_t *hash, int last) {
    uint64_t v[16], m[16];
    memcpy(m, hash->block, HASH_BLOCK);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int i = 0; i < 16; i++) m[i] = __builtin_bswap64(m[i]);
#endif
    for (int i = 0; i < 8; i++) {
        v[i] = hash->state[i];
        v[i + 8] = hash_start[i];
    }
    v[12] ^= hash->count;
    if (last) v[14] = ~v[14];
#pragma GCC unroll 12 /* so that the order of the words is known when this is compiled */
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = hash_order[round];
        HASH_MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
        HASH_MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
        HASH_MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
        HASH_MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
        HASH_MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
        HASH_MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
        HASH_MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
        HASH_MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++) hash->state[i] ^= v[i] ^ v[i + 8];
}

static void hash_begin(hash_t *hash) {
    memcpy(hash->state, hash_start, sizeof hash_start);
    hash->state[0] ^= 0x01010000 ^ HASH_DIGEST;
    hash->count = 0;
    hash->filled = 0;
}

static inline void hash_byte(hash_t *hash, uint8_t byte) {
    if (hash->filled == HASH_BLOCK) { /* only now it is certain that this block is not the last */
        hash->count += HASH_BLOCK;
        hash_compress(hash, 0);
        hash->filled = 0;
    }
    hash->block[hash->filled++] = byte;
}

static inline void hash_bytes(hash_t *hash, const uint8_t *bytes, size_t many) {
    while (many) {
        size_t room = HASH_BLOCK - hash->filled;
        size_t now = many < room ? many : room;
        if (!now) {
            hash_byte(hash, *bytes);
            now = 1;
        } else {
            memcpy(hash->block + hash->filled, bytes, now);
            hash->filled += now;
        }
        bytes += now;
        many -= now;
    }
}

/* A character as UTF-8; half a surrogate pair like any other, as Python's `surrogatepass` has it. */
static inline void hash_character(hash_t *hash, uint32_t c) {
    if (c < 0x80) {
        hash_byte(hash, (uint8_t)c);
        return;
    }
    if (c < 0x800) {
        hash_byte(hash, (uint8_t)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            hash_byte(hash, (uint8_t)(0xe0 | c >> 12));
        } else {
            hash_byte(hash, (uint8_t)(0xf0 | c >> 18));
            hash_byte(hash, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        }
        hash_byte(hash, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
    }
    hash_byte(hash, (uint8_t)(0x80 | (c & 0x3f)));
}

/* Text as CPython holds it where a character takes two bytes; most of it is ASCII all the same. */
static inline void hash_two_bytes(hash_t *hash, const uint16_t *text, size_t many) {
    size_t i = 0;
    for (; i + 8 <= many && hash->filled + 8 <= HASH_BLOCK; i += 8) {
        unsigned all = 0;
        for (int j = 0; j < 8; j++) all |= text[i + j];
        if (all >= 0x80) break;
        for (int j = 0; j < 8; j++) hash->block[hash->filled + j] = (uint8_t)text[i + j];
        hash->filled += 8;
    }
    for (; i < many; i++) {
        if (text[i] < 0x80 && hash->filled < HASH_BLOCK)
            hash->block[hash->filled++] = (uint8_t)text[i];
        else
            hash_character(hash, text[i]);
    }
}

static void hash_end(hash_t *hash, uint8_t *digest) {
    hash->count += hash->filled;
    memset(hash->block + hash->filled, 0, HASH_BLOCK - hash->filled);
    hash_compress(hash, 1);
    for (int i = 0; i < HASH_DIGEST; i++) digest[i] = (uint8_t)(hash->state[i / 8] >> 8 * (i % 8));
}

#endif
