package main

import (
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	burnPeriod = 20 * time.Millisecond
	// A thread that was throttled catches up at most this much, so that a raised limit shows the
	// wished load soon and not a burst of everything that was missed.
	burnBacklog = 100 * time.Millisecond
	// RUSAGE_THREAD of getrusage(2); package syscall does not name it.
	rusageThread = 1
	milliPerCore = 1000
)

// burner burns a number of millicores of CPU time, spread over whole threads and one partial one.
type burner struct {
	mutex  sync.Mutex
	wished int64
	stop   chan struct{}
}

func (b *burner) milli() int64 {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.wished
}

func (b *burner) set(milli int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.stop != nil {
		close(b.stop)
	}
	b.wished, b.stop = milli, make(chan struct{})
	threads := (milli + milliPerCore - 1) / milliPerCore
	// The runtime derives its own number from the container's limit; the HTTP server has to answer
	// beside threads that never block.
	runtime.GOMAXPROCS(int(threads) + 2)
	for ; milli > 0; milli -= milliPerCore {
		go burn(float64(min(milli, milliPerCore))/milliPerCore, b.stop)
	}
}

// burn counts the thread's CPU time, not the clock: under a quota or on a busy machine a duty cycle
// by the clock would demand less than it was told to.
func burn(share float64, stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	last, due := time.Now(), time.Duration(0)
	for {
		now := time.Now()
		due = min(due+time.Duration(share*float64(now.Sub(last))), burnBacklog)
		last = now
		before := threadCPU()
		spent := time.Duration(0)
		for spent < due {
			spin()
			spent = threadCPU() - before
		}
		due -= spent
		select {
		case <-stop:
			return
		default:
		}
		time.Sleep(burnPeriod - min(time.Since(now), burnPeriod))
	}
}

//go:noinline
func spin() {
	sum := 1
	for i := range 20_000 {
		sum = sum*31 + i
	}
	runtime.KeepAlive(sum)
}

func threadCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
