// Command assay runs solvers through a benchmark epoch and prints who earned
// what and why.
//
// Commands parse, call and print: every decision is made, and stored, in the
// rooms below. Standard output is the result, standard error is talk.
package main
