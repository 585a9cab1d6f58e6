package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// unlimited stands for "max" in cgroup v2 and for -1 in v1's quota.
const unlimited = -1

// v1 writes "no memory limit" as the largest page-aligned int64; nothing real comes near it.
const memoryUnlimitedV1 = 1 << 62

type cgroup struct {
	Version           int    `json:"version"`
	CPUQuotaUS        int64  `json:"cpu_quota_us"`
	CPUPeriodUS       int64  `json:"cpu_period_us"`
	CPUShares         *int64 `json:"cpu_shares,omitempty"`
	CPUWeight         *int64 `json:"cpu_weight,omitempty"`
	CPUUsageNS        int64  `json:"cpu_usage_ns"`
	ThrottledPeriods  int64  `json:"throttled_periods"`
	MemoryLimitBytes  int64  `json:"memory_limit_bytes"`
	MemoryUsageBytes  int64  `json:"memory_usage_bytes"`
	InactiveFileBytes int64  `json:"inactive_file_bytes"`
	OOMs              int64  `json:"ooms"`
	OOMKills          int64  `json:"oom_kills"`
}

// readCgroup reads the container's own cgroup as the runtime mounts it below root.
func readCgroup(root string) (cgroup, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return readV2(folder(root))
	}
	return readV1(root)
}

func readV1(root string) (cgroup, error) {
	cpu, memory := folder(filepath.Join(root, "cpu")), folder(filepath.Join(root, "memory"))
	files := &reader{}
	shares := files.number(cpu.file("cpu.shares"))
	stat := files.table(memory.file("memory.stat"))
	result := cgroup{
		Version:           1,
		CPUQuotaUS:        files.number(cpu.file("cpu.cfs_quota_us")),
		CPUPeriodUS:       files.number(cpu.file("cpu.cfs_period_us")),
		CPUShares:         &shares,
		CPUUsageNS:        files.number(filepath.Join(root, "cpuacct", "cpuacct.usage")),
		ThrottledPeriods:  files.table(cpu.file("cpu.stat"))["nr_throttled"],
		MemoryLimitBytes:  files.number(memory.file("memory.limit_in_bytes")),
		MemoryUsageBytes:  files.number(memory.file("memory.usage_in_bytes")),
		InactiveFileBytes: stat["total_inactive_file"],
		OOMs:              files.number(memory.file("memory.failcnt")),
		OOMKills:          files.table(memory.file("memory.oom_control"))["oom_kill"],
	}
	if result.MemoryLimitBytes >= memoryUnlimitedV1 {
		result.MemoryLimitBytes = unlimited
	}
	return result, files.err
}

func readV2(own folder) (cgroup, error) {
	files := &reader{}
	quota, period, _ := strings.Cut(files.text(own.file("cpu.max")), " ")
	weight := files.number(own.file("cpu.weight"))
	stat := files.table(own.file("cpu.stat"))
	events := files.table(own.file("memory.events"))
	result := cgroup{
		Version:           2,
		CPUQuotaUS:        files.parse(quota),
		CPUPeriodUS:       files.parse(period),
		CPUWeight:         &weight,
		CPUUsageNS:        stat["usage_usec"] * 1000,
		ThrottledPeriods:  stat["nr_throttled"],
		MemoryLimitBytes:  files.number(own.file("memory.max")),
		MemoryUsageBytes:  files.number(own.file("memory.current")),
		InactiveFileBytes: files.table(own.file("memory.stat"))["inactive_file"],
		OOMs:              events["oom"],
		OOMKills:          events["oom_kill"],
	}
	return result, files.err
}

type folder string

func (f folder) file(name string) string { return filepath.Join(string(f), name) }

// reader keeps the first error, so that a dozen files are read without a dozen checks.
type reader struct{ err error }

func (r *reader) text(path string) string {
	text, err := os.ReadFile(path)
	if err != nil && r.err == nil {
		r.err = err
	}
	return strings.TrimSpace(string(text))
}

func (r *reader) number(path string) int64 { return r.parse(r.text(path)) }

func (r *reader) parse(text string) int64 {
	if text == "max" {
		return unlimited
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return value
}

// table reads "name value" lines.
func (r *reader) table(path string) map[string]int64 {
	values := map[string]int64{}
	lines := bufio.NewScanner(strings.NewReader(r.text(path)))
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), " "); found {
			values[name] = r.parse(value)
		}
	}
	return values
}
