package sdk

import "fmt"

// A Level says how much a log line matters.
type Level int32

// Levels, from chatter to what a miner should look at.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)

// Log writes a formatted line to the session's log, which the miner sees after
// the epoch. A call that logs more than 64 KiB is stopped, with the cause log. A
// session keeps the first 1 MiB; what goes beyond it is dropped, and the solver
// goes on. Outside a validator's sandbox there is no log and the line is dropped.
func Log(level Level, format string, args ...any) {
	hostLog(level, fmt.Sprintf(format, args...))
}
