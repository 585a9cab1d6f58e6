// Command load is the program that the bench's pods run: it burns CPU, holds memory, forks, writes
// checkpoints and exits exactly as a test tells it, and shows its own cgroup files. Called as
// "pause" it is the sandbox container. It uses the standard library only, so that one static file
// makes the whole image.
//
// The same commands come by HTTP (/cpu?milli=900), by the file named in LOAD_FILE (a line
// "cpu milli=900") and as arguments at start.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const filePollInterval = 200 * time.Millisecond

func main() {
	log.SetFlags(log.LUTC | log.Lmicroseconds)
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "pause" {
		pause()
		return
	}
	exitOnTermination()
	program := newProgram(time.Now())
	for _, line := range args {
		if err := program.runLine(line); err != nil {
			log.Fatalf("%q: %v", line, err)
		}
	}
	if path := os.Getenv("LOAD_FILE"); path != "" {
		go followFile(program, path)
	}
	if address := address(); address != "" {
		log.Fatal(http.ListenAndServe(address, program.handler()))
	}
	select {}
}

// address is empty for forked workers: they share the pod's network, where the port is taken.
func address() string {
	if value, given := os.LookupEnv("LOAD_ADDRESS"); given {
		return value
	}
	return ":8080"
}

// exitOnTermination is needed because the kernel ignores SIGTERM for a process with pid 1 that
// installed no handler: each deleted pod would wait for its whole grace period.
func exitOnTermination() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		received := <-terminated
		os.Exit(128 + int(received.(syscall.Signal)))
	}()
}

// pause is pid 1 of pods with a shared process namespace, so orphans end up here.
func pause() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err != nil || pid <= 0 {
				break
			}
		}
	}
}

// followFile serves tests that reach a container by a mounted volume but not by HTTP. A line that
// fails is reported and the next ones still run; the file is read again when its text changes.
func followFile(program *program, path string) {
	previous := ""
	for ; ; time.Sleep(filePollInterval) {
		text, err := os.ReadFile(path)
		if err != nil || string(text) == previous {
			continue
		}
		previous = string(text)
		for _, line := range strings.Split(previous, "\n") {
			if err := program.runLine(line); err != nil {
				log.Print(fmt.Errorf("%s: %q: %w", path, line, err))
			}
		}
	}
}
