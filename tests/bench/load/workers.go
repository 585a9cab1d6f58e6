package main

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// worker is one forked child as /fork and /info show it.
type worker struct {
	PID    int    `json:"pid"`
	Alive  bool   `json:"alive"`
	Status string `json:"status,omitempty"`
}

// workers are children of this process, as a training launcher has them: the kernel may kill one
// of them for memory while the container lives on.
type workers struct {
	mutex    sync.Mutex
	children []*exec.Cmd
	states   []worker
}

func (w *workers) list() []worker {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]worker{}, w.states...)
}

// set ends the children of an earlier call and starts count new ones.
func (w *workers) set(count int64, load []string) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, child := range w.children {
		_ = child.Process.Kill()
	}
	w.children, w.states = nil, nil
	for range count {
		child := exec.Command("/proc/self/exe", load...)
		child.Env = append(os.Environ(), "LOAD_ADDRESS=", "LOAD_FILE=")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return err
		}
		w.children = append(w.children, child)
		w.states = append(w.states, worker{PID: child.Process.Pid, Alive: true})
		go w.await(child)
	}
	return nil
}

func (w *workers) await(child *exec.Cmd) {
	_ = child.Wait()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for i := range w.states {
		if w.states[i].PID == child.Process.Pid {
			w.states[i].Alive, w.states[i].Status = false, describe(child.ProcessState)
		}
	}
}

func describe(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return state.String()
}
