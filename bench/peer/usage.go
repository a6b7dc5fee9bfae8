package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// usage is what the process has taken so far: CPU in all threads, and memory at the moment.
type usage struct {
	CPUUs    int64 `json:"cpuUs"`
	RSSBytes int64 `json:"rssBytes"`
}

func usageNow() usage {
	return usage{CPUUs: cpuUs(), RSSBytes: rssBytes()}
}

// cpuUs is the CPU of all threads so far, user and system, in microseconds.
func cpuUs() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return micros(r.Utime) + micros(r.Stime)
}

func micros(t syscall.Timeval) int64 {
	return t.Sec*1_000_000 + t.Usec
}

func rssBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		panic(err)
	}
	return pages * int64(os.Getpagesize())
}
