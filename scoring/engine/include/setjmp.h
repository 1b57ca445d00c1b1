/* dtoa.c includes this header and uses nothing of it; wasi-libc refuses it. */
