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

// Log writes a formatted line to the run's log, which the miner sees after the
// epoch. A validator takes 64 KiB a call and 1 MiB a session; a solver that
// writes more is stopped. Outside a validator's sandbox there is no log and the
// line is dropped.
func Log(level Level, format string, args ...any) {
	hostLog(level, fmt.Sprintf(format, args...))
}
