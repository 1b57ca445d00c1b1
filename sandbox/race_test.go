package sandbox_test

import (
	"runtime/debug"
	"slices"
)

func underRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
