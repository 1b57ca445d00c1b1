/*
 * Bytes that grow, slices of them, and the little text that scripts need.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *data;
    size_t len, cap;
} bytes;

typedef struct {
    const char *data;
    size_t len;
} slice;

static char *room(bytes *b, size_t n)
{
    if (b->cap - b->len < n) {
        size_t cap = b->cap * 2 > b->len + n ? b->cap * 2 : b->len + n;
        b->data = realloc(b->data, cap);
        if (!b->data)
            __builtin_trap(); /* out of memory */
        b->cap = cap;
    }
    return b->data + b->len;
}

static void put(bytes *b, const void *data, size_t n)
{
    if (n == 0)
        return;
    memcpy(room(b, n), data, n);
    b->len += n;
}

static void put_text(bytes *b, const char *text) { put(b, text, strlen(text)); }

static void put_number(bytes *b, int64_t n)
{
    char text[24];
    put(b, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)n));
}

static void put_hex(bytes *b, uint64_t bits, int digits)
{
    while (digits--)
        put(b, &"0123456789abcdef"[bits >> (digits * 4) & 15], 1);
}

static slice all(const bytes *b) { return (slice){b->data, b->len}; }

static int is(slice s, const char *word) { return s.len == strlen(word) && !memcmp(s.data, word, s.len); }

/* find gives the place of what in s, or s.len. */
static size_t find(slice s, slice what)
{
    const char *at = s.data, *end = s.data + s.len;
    while (at && (at = memchr(at, what.data[0], (size_t)(end - at)))) {
        if ((size_t)(end - at) >= what.len && !memcmp(at, what.data, what.len))
            return (size_t)(at - s.data);
        at++;
    }
    return s.len;
}

/* until cuts s before the first c and moves it behind that. */
static slice until(slice *s, char c)
{
    slice head = {s->data, find(*s, (slice){&c, 1})};
    size_t skip = head.len < s->len ? head.len + 1 : head.len;
    s->data += skip;
    s->len -= skip;
    return head;
}

static uint64_t number(slice s)
{
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < s.len; i++)
        n = n * 10 + (uint64_t)(s.data[i] - '0');
    return n;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static uint64_t bits(slice s)
{
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < s.len; i++)
        n = n << 4 | (uint64_t)digit(s.data[i]);
    return n;
}
