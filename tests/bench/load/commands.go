package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const mebibyte = 1 << 20

type command func(arguments url.Values) (any, error)

// program holds what the commands change. Each part locks itself.
type program struct {
	started  time.Time
	cpu      burner
	memory   holder
	workers  workers
	commands map[string]command
}

func newProgram(started time.Time) *program {
	p := &program{started: started}
	p.commands = map[string]command{
		"cpu":         p.setCPU,
		"memory":      p.setMemory,
		"memory/grow": p.growMemory,
		"cgroup":      func(url.Values) (any, error) { return readCgroup("/sys/fs/cgroup") },
		"fork":        p.fork,
		"checkpoint":  writeCheckpoint,
		"exit":        exit,
		"healthz":     func(url.Values) (any, error) { return "ok", nil },
		"info":        p.info,
	}
	return p
}

func (p *program) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		run, known := p.commands[strings.Trim(r.URL.Path, "/")]
		if !known {
			http.NotFound(w, r)
			return
		}
		result, err := run(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	})
}

// runLine runs "memory/grow bytes_per_s=4000000 until=200000000"; an empty line does nothing.
func (p *program) runLine(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	run, known := p.commands[words[0]]
	if !known {
		return fmt.Errorf("unknown command %q", words[0])
	}
	arguments, err := url.ParseQuery(strings.Join(words[1:], "&"))
	if err != nil {
		return err
	}
	_, err = run(arguments)
	return err
}

func (p *program) setCPU(arguments url.Values) (any, error) {
	if arguments.Has("milli") {
		milli, err := number(arguments, "milli", 0)
		if err != nil {
			return nil, err
		}
		p.cpu.set(milli)
	}
	return map[string]int64{"milli": p.cpu.milli()}, nil
}

func (p *program) setMemory(arguments url.Values) (any, error) {
	bytes, given, err := size(arguments)
	if err != nil {
		return nil, err
	}
	if given {
		if err := p.memory.set(bytes); err != nil {
			return nil, err
		}
	}
	return map[string]int64{"bytes": p.memory.bytes()}, nil
}

func (p *program) growMemory(arguments url.Values) (any, error) {
	rate, err := number(arguments, "bytes_per_s", 0)
	if err != nil {
		return nil, err
	}
	// Without a bound it grows into the limit, which is what the OOM tests want.
	until, err := number(arguments, "until", 1<<62)
	if err != nil {
		return nil, err
	}
	p.memory.grow(rate, until)
	return map[string]int64{"bytes": p.memory.bytes(), "until": until}, nil
}

// fork starts n children with the same load each: milli, bytes or mebibytes.
func (p *program) fork(arguments url.Values) (any, error) {
	count, err := number(arguments, "n", 0)
	if err != nil {
		return nil, err
	}
	milli, err := number(arguments, "milli", 0)
	if err != nil {
		return nil, err
	}
	bytes, _, err := size(arguments)
	if err != nil {
		return nil, err
	}
	load := []string{fmt.Sprintf("cpu milli=%d", milli), fmt.Sprintf("memory bytes=%d", bytes)}
	if err := p.workers.set(count, load); err != nil {
		return nil, err
	}
	return p.workers.list(), nil
}

// writeCheckpoint makes <dir>/<step>/complete appear as the last thing and by a rename, so that a
// reader never takes a half-written checkpoint for a whole one.
func writeCheckpoint(arguments url.Values) (any, error) {
	step, err := number(arguments, "step", 0)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(arguments.Get("dir"), strconv.FormatInt(step, 10))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	temporary, err := os.CreateTemp(folder, "incomplete-")
	if err != nil {
		return nil, err
	}
	defer temporary.Close()
	if _, err := fmt.Fprintln(temporary, time.Now().UTC().Format(time.RFC3339Nano)); err != nil {
		return nil, err
	}
	if err := temporary.Sync(); err != nil {
		return nil, err
	}
	marker := filepath.Join(folder, "complete")
	return map[string]string{"marker": marker}, os.Rename(temporary.Name(), marker)
}

// exit answers first: a test that asked for it must be able to tell the answer from a crash.
func exit(arguments url.Values) (any, error) {
	code, err := number(arguments, "code", 0)
	if err != nil {
		return nil, err
	}
	time.AfterFunc(50*time.Millisecond, func() { os.Exit(int(code)) })
	return map[string]int64{"code": code}, nil
}

func (p *program) info(url.Values) (any, error) {
	environment := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		environment[name] = value
	}
	return map[string]any{
		"pid":         os.Getpid(),
		"started":     p.started.UTC().Format(time.RFC3339Nano),
		"attempt":     environment["ATTEMPT"],
		"environment": environment,
		"cpuMilli":    p.cpu.milli(),
		"memoryBytes": p.memory.bytes(),
		"workers":     p.workers.list(),
	}, nil
}

func number(arguments url.Values, name string, absent int64) (int64, error) {
	if !arguments.Has(name) {
		return absent, nil
	}
	value, err := strconv.ParseInt(arguments.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if value < 0 {
		return 0, fmt.Errorf("%s: %d is negative", name, value)
	}
	return value, nil
}

func size(arguments url.Values) (bytes int64, given bool, err error) {
	if arguments.Has("mebibytes") {
		mebibytes, err := number(arguments, "mebibytes", 0)
		return mebibytes * mebibyte, true, err
	}
	bytes, err = number(arguments, "bytes", 0)
	return bytes, arguments.Has("bytes"), err
}
