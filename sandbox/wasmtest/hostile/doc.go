// Package hostile makes guests that mean harm: that never end, claim what there
// isn't, hold up the host, tell one machine from another, or are built to break
// whoever reads or compiles them. One [Guest] each, with what must become of it.
//
// Modules are generated, scripts are given as source, and the Go guests are one
// module, built from testdata with the Go toolchain by [BuildGo].
//
// It is test support: nothing outside of _test files imports it.
package hostile
