/*
 * What the overhead of metering is measured on: each export takes how often to
 * repeat its work and returns a checksum.
 */
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name)))

/* ---- spin: a tight loop of integer arithmetic ---- */

EXPORT(spin) int32_t spin(int32_t n)
{
    uint32_t x = 1;
    for (int32_t i = 0; i < n * 100000; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
    }
    return (int32_t)x;
}

/* ---- matmul: products of f64 matrices ---- */

enum { SIDE = 64 };
static double a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];

EXPORT(matmul) int32_t matmul(int32_t n)
{
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = i * 0.5;
        b[i] = i * 0.25;
    }
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                double x = 0;
                for (int k = 0; k < SIDE; k++)
                    x += a[i * SIDE + k] * b[k * SIDE + j];
                c[i * SIDE + j] = x;
            }
        sum += c[r % (SIDE * SIDE)];
    }
    return (int32_t)sum;
}

/* ---- recursion: calls and little else ---- */

static int32_t fib(int32_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

EXPORT(recursion) int32_t recursion(int32_t n)
{
    return fib(n);
}

/* ---- mixed: scanning text, hashing, a table, sorting, some floats ---- */

static uint8_t text[1 << 16];
static uint32_t table[1 << 12];
static int32_t values[1 << 12];

static void sort(int32_t *v, int left, int right)
{
    while (left < right) {
        int32_t pivot = v[(left + right) / 2];
        int i = left, j = right;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                int32_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j - left < right - i) {
            sort(v, left, j);
            left = i;
        } else {
            sort(v, i, right);
            right = j;
        }
    }
}

EXPORT(mixed) int32_t mixed(int32_t n)
{
    static const char json[] = "{\"amount\":1200,\"pools\":[1,2,3]} ";
    uint32_t hash = 1;
    for (int32_t r = 0; r < n; r++) {
        int depth = 0, number = 0, sum = 0;
        double mean = 0;
        for (unsigned i = 0; i < sizeof text; i++)
            text[i] = json[i % (sizeof json - 1)];
        for (unsigned i = 0; i < sizeof text; i++) {
            uint8_t ch = text[i];
            switch (ch) {
            case '{': case '[':
                depth++;
                break;
            case '}': case ']':
                depth--;
                /* fall through */
            case ',':
                sum += number;
                number = 0;
                break;
            default:
                if (ch >= '0' && ch <= '9')
                    number = number * 10 + (ch - '0');
            }
            hash = (hash ^ ch) * 16777619u;
            table[hash % (1 << 12)]++;
        }
        for (int i = 0; i < 1 << 12; i++) {
            hash = hash * 1664525u + 1013904223u;
            values[i] = (int32_t)(hash >> 8);
        }
        sort(values, 0, (1 << 12) - 1);
        for (int i = 0; i < 1 << 12; i++)
            mean += values[i] / (double)(i + 1);
        hash += (uint32_t)mean + (uint32_t)sum + (uint32_t)depth + table[7];
    }
    return (int32_t)hash;
}
