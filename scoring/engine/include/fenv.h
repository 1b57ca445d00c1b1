/* Rounding modes do not exist in WebAssembly; the engine includes this header
 * and uses nothing of it. */
