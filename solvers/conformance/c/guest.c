/*
 * The conformance guest in C: see ../README.md for what it has to do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"

#define IMPORT(name) __attribute__((import_module("assay"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

IMPORT(input) int32_t host_input(void *ptr, uint32_t cap);
IMPORT(output) void host_output(const void *ptr, uint32_t len);
IMPORT(rpc) int32_t host_rpc(int64_t chain, const void *ptr, uint32_t len);
IMPORT(rpc_read) int32_t host_rpc_read(void *ptr, uint32_t cap);
IMPORT(log) void host_log(int32_t level, const void *ptr, uint32_t len);

enum { OK = 0, FAILED = 1, NOT_IMPLEMENTED = 2, GO_ON = INT32_MIN };

/* ---- what a guest keeps ---- */

static bytes init, state, input, answer;
static uint32_t input_len;

/* ---- reads ---- */

static bytes reply;

/* ask sends a request and reads the reply in pieces; a negative status or OK. */
static int32_t ask(uint64_t chain, slice request, uint32_t piece)
{
    int32_t len = host_rpc((int64_t)chain, request.data, (uint32_t)request.len), n;
    reply.len = 0;
    if (len < 0)
        return len;
    while ((n = host_rpc_read(room(&reply, piece), piece)) > 0)
        reply.len += (size_t)n;
    return reply.len == (size_t)len ? OK : -100;
}

static const char before_method[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"";
static const char after_method[] = "\",\"params\":[]}";

/* call_method says what became of one request. */
static int32_t call_method(uint64_t chain, slice method, bytes *out)
{
    static bytes request;
    slice text;
    size_t at;
    int32_t status;

    request.len = 0;
    put_text(&request, before_method);
    put(&request, method.data, method.len);
    put_text(&request, after_method);
    status = ask(chain, all(&request), 1 << 16);
    if (status < 0) {
        put_number(out, status);
        return status;
    }
    text = all(&reply);
    if ((at = find(text, (slice){"\"error\"", 7})) < text.len) {
        text.data += at, text.len -= at;
        put_text(out, "rpc error: ");
        at = find(text, (slice){"\"message\":\"", 11}) + 11;
        status = FAILED;
    } else {
        at = find(text, (slice){"\"result\":\"", 10}) + 10;
    }
    if (at < text.len) {
        text.data += at, text.len -= at;
        text = until(&text, '"');
        put(out, text.data, text.len);
    }
    return status;
}

/* ---- operations ---- */

static void quotes(bytes *b, slice s)
{
    size_t i;
    for (i = 0; i < s.len; i++)
        put(b, s.data[i] == '\'' ? "\"" : s.data + i, 1);
}

static void f64(slice op, uint64_t left, uint64_t right)
{
    double a, b, r = 0;
    memcpy(&a, &left, 8), memcpy(&b, &right, 8);
    if (is(op, "demote")) {
        float f = (float)a;
        uint32_t out;
        memcpy(&out, &f, 4);
        put_hex(&answer, out, 8);
        return;
    }
    if (is(op, "add")) r = a + b;
    if (is(op, "sub")) r = a - b;
    if (is(op, "mul")) r = a * b;
    if (is(op, "div")) r = a / b;
    if (is(op, "sqrt")) r = __builtin_sqrt(a);
    memcpy(&left, &r, 8);
    put_hex(&answer, left, 16);
}

static void f32(slice op, uint32_t left, uint32_t right)
{
    float a, b, r = 0;
    memcpy(&a, &left, 4), memcpy(&b, &right, 4);
    if (is(op, "promote")) {
        double d = (double)a;
        uint64_t out;
        memcpy(&out, &d, 8);
        put_hex(&answer, out, 16);
        return;
    }
    if (is(op, "add")) r = a + b;
    if (is(op, "sub")) r = a - b;
    if (is(op, "mul")) r = a * b;
    if (is(op, "div")) r = a / b;
    if (is(op, "sqrt")) r = __builtin_sqrtf(a);
    memcpy(&left, &r, 4);
    put_hex(&answer, left, 8);
}

static uint64_t mix(uint64_t rounds)
{
    uint64_t x = 0, s = 0, z;
    while (rounds--) {
        z = s += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        x = (x << 1 | x >> 63) ^ z ^ z >> 31;
    }
    return x;
}

__attribute__((noinline)) static uint32_t recurse(uint32_t n)
{
    return n == 0 ? 1 : (recurse(n - 1) * 31) ^ n;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void grow(uint64_t mib)
{
    size_t n = (size_t)mib << 20, i;
    volatile char *block = malloc(n);
    if (!block)
        __builtin_trap(); /* out of memory */
    for (i = 0; i < n; i += 1 << 16)
        block[i] = 1;
    put_number(&answer, (int64_t)mib);
    free((void *)block);
}

static void pointer(slice import, uint32_t ptr, uint32_t len)
{
    void *p = (void *)(uintptr_t)ptr;
    if (is(import, "input")) host_input(p, len);
    if (is(import, "output")) host_output(p, len);
    if (is(import, "rpc")) host_rpc(1, p, len);
    if (is(import, "rpc_read")) host_rpc_read(p, len);
    if (is(import, "log")) host_log(1, p, len);
}

static void flush(size_t piece)
{
    size_t i, n;
    if (answer.len == 0)
        host_output(answer.data, 0);
    for (i = 0; i < answer.len; i += n) {
        n = answer.len - i < piece ? answer.len - i : piece;
        host_output(answer.data + i, (uint32_t)n);
    }
    answer.len = 0;
}

/* step does one operation; GO_ON or the status that ends the script. */
static int32_t step(slice op, slice args)
{
    slice rest = args, first = until(&rest, ' '), tail = rest, second = until(&tail, ' ');
    uint64_t n = number(first), i;
    char buf[16];

    if (is(op, "say")) {
        put(&answer, args.data, args.len);
    } else if (is(op, "json")) {
        quotes(&answer, args);
    } else if (is(op, "hex")) {
        for (i = 0; i + 1 < args.len; i += 2)
            put(&answer, (char[]){(char)(digit(args.data[i]) << 4 | digit(args.data[i + 1]))}, 1);
    } else if (is(op, "repeat")) {
        for (i = 0; i < n; i++)
            put(&answer, rest.data, rest.len);
    } else if (is(op, "fill")) {
        char *to = room(&answer, n);
        for (i = 0; i < n; i++)
            to[i] = (char)(i % 251);
        answer.len += n;
    } else if (is(op, "echo")) {
        put(&answer, input.data, input.len);
    } else if (is(op, "length")) {
        put_number(&answer, input_len);
    } else if (is(op, "more")) {
        put_number(&answer, host_input(buf, sizeof buf));
    } else if (is(op, "keep")) {
        state.len = 0;
        put(&state, answer.data, answer.len);
        answer.len = 0;
    } else if (is(op, "state")) {
        put(&answer, state.data, state.len);
    } else if (is(op, "flush")) {
        flush(answer.len);
    } else if (is(op, "pieces")) {
        flush(n);
    } else if (is(op, "fail")) {
        return FAILED;
    } else if (is(op, "absent")) {
        return NOT_IMPLEMENTED;
    } else if (is(op, "status")) {
        return (int32_t)n;
    } else if (is(op, "trap")) {
        __builtin_trap();
    } else if (is(op, "exit")) {
        exit((int)n);
    } else if (is(op, "pointer")) {
        pointer(first, (uint32_t)number(second), (uint32_t)number(tail));
    } else if (is(op, "log")) {
        host_log((int32_t)n, rest.data, (uint32_t)rest.len);
    } else if (is(op, "logfill")) {
        char *line = malloc(n);
        memset(line, 'x', n);
        host_log(1, line, (uint32_t)n);
        free(line);
    } else if (is(op, "print")) {
        printf("%.*s\n", (int)args.len, args.data);
        fflush(stdout);
    } else if (is(op, "read")) {
        call_method(n, rest, &answer);
    } else if (is(op, "reads")) {
        bytes last = {0};
        int64_t answered = 0;
        for (i = 0; i < n; i++) {
            last.len = 0;
            answered += call_method(number(second), tail, &last) == OK;
        }
        put_number(&answer, answered);
        put_text(&answer, " ");
        put(&answer, last.data, last.len);
        free(last.data);
    } else if (is(op, "big")) {
        size_t m = number(rest) - (sizeof before_method - 1) - (sizeof after_method - 1);
        char *method = malloc(m);
        bytes said = {0};
        memset(method, 'm', m);
        if (call_method(n, (slice){method, m}, &said) == OK)
            put_text(&answer, "answered");
        else
            put(&answer, said.data, said.len);
        free(said.data);
        free(method);
    } else if (is(op, "raw")) {
        bytes request = {0};
        int32_t status;
        quotes(&request, tail);
        status = ask(n, all(&request), (uint32_t)number(second));
        put_number(&answer, status < 0 ? status : (int64_t)reply.len);
        put_text(&answer, " ");
        put(&answer, reply.data, reply.len);
        free(request.data);
    } else if (is(op, "peek")) {
        put_number(&answer, host_rpc_read(buf, sizeof buf));
    } else if (is(op, "clock")) {
        put_number(&answer, (int64_t)(now() / 1000000000));
    } else if (is(op, "ticks")) {
        uint64_t before = now();
        put_text(&answer, now() > before ? "later" : "same");
    } else if (is(op, "sleep")) {
        nanosleep(&(struct timespec){(time_t)(n / 1000), (long)(n % 1000 * 1000000)}, NULL);
    } else if (is(op, "random")) {
        for (; n > 0; n--) {
            unsigned char c;
            if (getentropy(&c, 1))
                __builtin_trap();
            put_hex(&answer, c, 2);
        }
    } else if (is(op, "f64")) {
        f64(first, bits(second), bits(tail));
    } else if (is(op, "f32")) {
        f32(first, (uint32_t)bits(second), (uint32_t)bits(tail));
    } else if (is(op, "mix")) {
        put_hex(&answer, mix(n), 16);
    } else if (is(op, "recurse")) {
        put_number(&answer, recurse((uint32_t)n));
    } else if (is(op, "spin")) {
        for (volatile int on = 1; on;)
            ;
    } else if (is(op, "grow")) {
        grow(n);
    } else {
        put_text(&answer, "unknown operation");
        return FAILED;
    }
    return GO_ON;
}

static int32_t run(slice script)
{
    while (script.len > 0) {
        slice args = until(&script, ';'), op = until(&args, ' ');
        int32_t status = step(op, args);
        if (status != GO_ON)
            return status;
    }
    return OK;
}

/* ---- calls ---- */

/* script finds the string that begins with a name in a JSON text. */
static int script(const bytes *in, const char *name, slice *found)
{
    char needle[32];
    slice text = all(in);
    size_t n = (size_t)snprintf(needle, sizeof needle, "\"%s ", name), at = find(text, (slice){needle, n});
    if (at == text.len)
        return 0;
    text.data += at + n, text.len -= at + n;
    *found = until(&text, '"');
    return 1;
}

static void pull(uint32_t len)
{
    slice size;
    uint32_t piece = script(&init, "input", &size) ? (uint32_t)number(size) : 1 << 20;
    int32_t n;
    input.len = 0;
    input_len = len;
    while ((n = host_input(room(&input, piece), piece)) > 0)
        input.len += (size_t)n;
}

static void copy(bytes *to, const bytes *from)
{
    to->len = 0;
    put(to, from->data, from->len);
}

static int32_t call(const char *name, uint32_t len, const char *otherwise)
{
    int32_t status = OK;
    slice found;

    answer.len = 0;
    pull(len);
    if (!strcmp(name, "initialize"))
        copy(&init, &input);
    if (script(&input, name, &found) || script(&init, name, &found))
        status = run(found);
    else if (!strcmp(name, "restore_state"))
        copy(&state, &input);
    else if (!strcmp(name, "serialize_state"))
        copy(&answer, &state);
    else
        put_text(&answer, otherwise);
    if (answer.len > 0)
        host_output(answer.data, (uint32_t)answer.len);
    return status;
}

EXPORT(solver_abi) int32_t solver_abi(void) { return 1; }

#define CALL(name, otherwise) \
    EXPORT(solver_##name) int32_t solver_##name(uint32_t len) { return call(#name, len, otherwise); }

CALL(metadata, "{\"name\":\"conformance\",\"version\":\"1.0.0\",\"author\":\"assay\"}")
CALL(initialize, "")
CALL(restore_state, "")
CALL(set_market, "")
CALL(on_benchmark_start, "")
CALL(check_trigger, "{\"trigger\":true}")
CALL(generate_plan,
     "{\"intent_id\":\"conformance\",\"interactions\":[{\"target\":\"0x00000000000000000000000000000000000000aa\","
     "\"value\":\"0\",\"call_data\":\"0x\"}],\"deadline\":4102444800,\"nonce\":1}")
CALL(quote, "{\"estimated_output\":\"1\"}")
CALL(on_benchmark_end, "")
CALL(serialize_state, "")
