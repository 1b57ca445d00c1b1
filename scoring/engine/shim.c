/*
 * The engine's edge: QuickJS behind the five imports of the solver ABI.
 *
 * Everything the program can learn from outside comes through input and rpc;
 * everything it says leaves through output and log. There is no WASI: the clock
 * stands still at the time the host passes, Math.random is seeded by the host,
 * and the functions of libc that would reach for a system end here.
 *
 * The dispatch table, the encoding of results and the globals that programs see
 * are JavaScript (prelude.js). This file moves bytes.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <wasi/api.h>

#include "quickjs.h"

#define IMPORT(name) __attribute__((import_module("assay"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(#name)))

IMPORT(input) int32_t host_input(void *ptr, int32_t cap);
IMPORT(output) void host_output(const void *ptr, int32_t len);
IMPORT(rpc) int32_t host_rpc(int64_t chain, const void *ptr, int32_t len);
IMPORT(rpc_read) int32_t host_rpc_read(void *ptr, int32_t cap);
IMPORT(log) void host_log(int32_t level, const void *ptr, int32_t len);

enum { STATUS_FAILED = 1 };

/* A quarter of the linker's stack: what is below it belongs to C functions that
 * do not look at the limit. */
#define STACK_LIMIT (256 * 1024)

static const char prelude[] = {
#include "prelude.inc"
};

static JSRuntime *runtime;
static JSContext *context;
static JSValue dispatch; /* the prelude's only export */

static int64_t now_seconds;
static uint64_t random_state = 1;

/* ---- libc that would ask a system ---- */

int gettimeofday(struct timeval *tv, void *zone)
{
    (void)zone;
    tv->tv_sec = now_seconds;
    tv->tv_usec = 0;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    (void)clock;
    ts->tv_sec = now_seconds;
    ts->tv_nsec = 0;
    return 0;
}

time_t time(time_t *out)
{
    if (out)
        *out = now_seconds;
    return now_seconds;
}

/* The engine reads the offset from UTC and nothing else. */
struct tm *localtime_r(const time_t *when, struct tm *tm)
{
    (void)when;
    memset(tm, 0, sizeof *tm);
    return tm;
}

_Noreturn void abort(void)
{
    __builtin_trap();
}

/* The engine prints only in its dump functions, which nothing here calls. */
int printf(const char *format, ...)
{
    (void)format;
    return 0;
}

int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    (void)file;
    (void)format;
    return 0;
}

int putchar(int c)
{
    return c;
}

int puts(const char *s)
{
    (void)s;
    return 0;
}

int fputc(int c, FILE *file)
{
    (void)file;
    return c;
}

int fputs(const char *restrict s, FILE *restrict file)
{
    (void)s;
    (void)file;
    return 0;
}

/* libc's streams end here. */
__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd)
{
    (void)fd;
    return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence,
                              __wasi_filesize_t *position)
{
    (void)fd;
    (void)offset;
    (void)whence;
    (void)position;
    return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *parts, size_t n, __wasi_size_t *written)
{
    (void)fd;
    (void)parts;
    (void)n;
    (void)written;
    return __WASI_ERRNO_BADF;
}

/* ---- what the prelude receives ---- */

/* rpc(chain, text): the reply's text, or the host's negative status. */
static JSValue native_rpc(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int64_t chain;
    size_t len;
    const char *request;
    int32_t reply_len, got, n;
    char *reply;
    JSValue value;

    (void)self;
    (void)argc;
    if (JS_ToInt64Ext(ctx, &chain, argv[0]))
        return JS_EXCEPTION;
    request = JS_ToCStringLen(ctx, &len, argv[1]);
    if (!request)
        return JS_EXCEPTION;
    reply_len = host_rpc(chain, request, (int32_t)len);
    JS_FreeCString(ctx, request);
    if (reply_len < 0)
        return JS_NewInt32(ctx, reply_len);
    reply = js_malloc(ctx, (size_t)reply_len + 1);
    if (!reply)
        return JS_EXCEPTION;
    for (got = 0; got < reply_len; got += n) {
        n = host_rpc_read(reply + got, reply_len - got);
        if (n <= 0)
            break;
    }
    value = JS_NewStringLen(ctx, reply, got);
    js_free(ctx, reply);
    return value;
}

/* log(level, text) */
static JSValue native_log(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int32_t level;
    size_t len;
    const char *text;

    (void)self;
    (void)argc;
    if (JS_ToInt32(ctx, &level, argv[0]))
        return JS_EXCEPTION;
    text = JS_ToCStringLen(ctx, &len, argv[1]);
    if (!text)
        return JS_EXCEPTION;
    host_log(level, text, (int32_t)len);
    JS_FreeCString(ctx, text);
    return JS_UNDEFINED;
}

/* pin(seconds, hi, lo): the time and the seed from here on. */
static JSValue native_pin(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    int64_t seconds;
    uint32_t hi, lo;

    (void)self;
    (void)argc;
    if (JS_ToInt64Ext(ctx, &seconds, argv[0]) || JS_ToUint32(ctx, &hi, argv[1]) || JS_ToUint32(ctx, &lo, argv[2]))
        return JS_EXCEPTION;
    now_seconds = seconds;
    random_state = (uint64_t)hi << 32 | lo;
    if (random_state == 0)
        random_state = 1; /* zero is the generator's fixed point */
    return JS_UNDEFINED;
}

/* random(): xorshift64*, 52 bits, in [0,1). */
static JSValue native_random(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    union { uint64_t bits; double value; } one_to_two;
    uint64_t x = random_state;

    (void)self;
    (void)argc;
    (void)argv;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random_state = x;
    one_to_two.bits = (uint64_t)0x3ff << 52 | (x * 0x2545F4914F6CDD1D) >> 12;
    return JS_NewFloat64(ctx, one_to_two.value - 1.0);
}

/* text(buffer): its bytes read as UTF-8. */
static JSValue native_text(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv)
{
    size_t len;
    uint8_t *bytes = JS_GetArrayBuffer(ctx, &len, argv[0]);

    (void)self;
    (void)argc;
    if (!bytes)
        return JS_EXCEPTION;
    return JS_NewStringLen(ctx, (const char *)bytes, len);
}

static const JSCFunctionListEntry natives[] = {
    JS_CFUNC_DEF("rpc", 2, native_rpc),
    JS_CFUNC_DEF("log", 2, native_log),
    JS_CFUNC_DEF("pin", 3, native_pin),
    JS_CFUNC_DEF("random", 0, native_random),
    JS_CFUNC_DEF("text", 1, native_text),
};

/* ---- calls ---- */

static void say(const char *text)
{
    host_output(text, (int32_t)strlen(text));
}

/* A message for the exception that is pending. Only errors of the engine itself
 * get here (out of memory, a stack that is spent before the prelude could
 * catch): the prelude describes what programs throw. */
static int32_t fail_pending(void)
{
    JSValue error = JS_GetException(context);
    size_t len;
    const char *text = JS_ToCStringLen(context, &len, error);

    if (text) {
        host_output(text, (int32_t)len);
        JS_FreeCString(context, text);
    } else {
        JS_FreeValue(context, JS_GetException(context));
        say("the engine ran out of memory");
    }
    JS_FreeValue(context, error);
    return STATUS_FAILED;
}

static int boot(void)
{
    JSValue factory, object;

    runtime = JS_NewRuntime();
    if (!runtime)
        return -1;
    JS_SetMaxStackSize(runtime, STACK_LIMIT);
    context = JS_NewContext(runtime);
    if (!context)
        return -1;
    factory = JS_Eval(context, prelude, sizeof prelude - 1, "assay", JS_EVAL_TYPE_GLOBAL);
    if (JS_IsException(factory))
        return -1;
    object = JS_NewObject(context);
    JS_SetPropertyFunctionList(context, object, natives, sizeof natives / sizeof *natives);
    dispatch = JS_Call(context, factory, JS_UNDEFINED, 1, &object);
    JS_FreeValue(context, object);
    JS_FreeValue(context, factory);
    return JS_IsException(dispatch) ? -1 : 0;
}

/* All of the call's input, as an ArrayBuffer. */
static JSValue read_input(int32_t len)
{
    uint8_t *bytes;
    int32_t got = 0, n;
    JSValue buffer;

    if (len < 0)
        len = 0;
    bytes = js_malloc(context, (size_t)len + 1);
    if (!bytes)
        return JS_EXCEPTION;
    while (got < len && (n = host_input(bytes + got, len - got)) > 0)
        got += n;
    buffer = JS_NewArrayBufferCopy(context, bytes, got);
    js_free(context, bytes);
    return buffer;
}

/* Writes the answer [status, text or ArrayBuffer] of a settled call. */
static int32_t write_answer(JSValueConst answer)
{
    JSValue status_value = JS_GetPropertyUint32(context, answer, 0);
    JSValue body = JS_GetPropertyUint32(context, answer, 1);
    int32_t status;
    size_t len;

    if (JS_ToInt32(context, &status, status_value)) {
        status = fail_pending();
    } else if (JS_IsString(body)) {
        const char *text = JS_ToCStringLen(context, &len, body);
        if (text) {
            host_output(text, (int32_t)len);
            JS_FreeCString(context, text);
        } else {
            status = fail_pending();
        }
    } else {
        uint8_t *bytes = JS_GetArrayBuffer(context, &len, body);
        if (bytes)
            host_output(bytes, (int32_t)len);
        else
            status = fail_pending();
    }
    JS_FreeValue(context, body);
    JS_FreeValue(context, status_value);
    return status;
}

/* One exported call: dispatch(name, input), then every job it left behind, so
 * that no work of this call is charged to the next. */
static int32_t call(const char *name, int32_t input_len)
{
    JSValue arguments[2], promise, answer;
    JSContext *job_context;
    int32_t status;

    if (!context) {
        say("no program is loaded");
        return STATUS_FAILED;
    }
    JS_UpdateStackTop(runtime);
    arguments[0] = JS_NewString(context, name);
    arguments[1] = read_input(input_len);
    if (JS_IsException(arguments[0]) || JS_IsException(arguments[1]))
        return fail_pending();
    promise = JS_Call(context, dispatch, JS_UNDEFINED, 2, arguments);
    JS_FreeValue(context, arguments[0]);
    JS_FreeValue(context, arguments[1]);
    if (JS_IsException(promise))
        return fail_pending();
    while (JS_IsJobPending(runtime))
        if (JS_ExecutePendingJob(runtime, &job_context) < 0)
            JS_FreeValue(job_context, JS_GetException(job_context));
    switch (JS_PromiseState(context, promise)) {
    case JS_PROMISE_FULFILLED:
        answer = JS_PromiseResult(context, promise);
        status = write_answer(answer);
        JS_FreeValue(context, answer);
        break;
    case JS_PROMISE_REJECTED:
        JS_Throw(context, JS_PromiseResult(context, promise));
        status = fail_pending();
        break;
    default:
        say("the promise never settled");
        status = STATUS_FAILED;
    }
    JS_FreeValue(context, promise);
    return status;
}

EXPORT(solver_abi) int32_t solver_abi(void)
{
    return 1;
}

EXPORT(js_load) int32_t js_load(int32_t len)
{
    if (context) {
        say("a program is already loaded");
        return STATUS_FAILED;
    }
    if (boot()) {
        say("the engine does not start");
        return STATUS_FAILED;
    }
    return call("js_load", len);
}

#define CALL(name) \
    EXPORT(name) int32_t name(int32_t len) { return call(#name, len); }

CALL(scorer_config)
CALL(scorer_manifest)
CALL(scorer_score)
CALL(scorer_validate)
CALL(scorer_should_trigger)

CALL(solver_metadata)
CALL(solver_initialize)
CALL(solver_restore_state)
CALL(solver_set_market)
CALL(solver_on_benchmark_start)
CALL(solver_check_trigger)
CALL(solver_generate_plan)
CALL(solver_quote)
CALL(solver_on_benchmark_end)
CALL(solver_serialize_state)
