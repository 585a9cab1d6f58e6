-- Health of a JobSet. Running is Healthy, so that later sync waves and PostSync hooks need not wait
-- for the end of a training; annotate the JobSet with argocd-fluid.io/health-running: "Progressing"
-- where they should. Argo CD gives this script no string and no math library.
local annotations = obj.metadata.annotations or {}
local labels = obj.metadata.labels or {}
local spec = obj.spec or {}
local status = obj.status or {}

local function condition(wanted)
  for _, c in ipairs(status.conditions or {}) do
    if c.type == wanted and c.status == "True" then
      return c
    end
  end
  return nil
end

local function answer(health, message)
  return { status = health, message = message }
end

local failed = condition("Failed")
if status.terminalState == "Failed" or failed ~= nil then
  if failed == nil then
    return answer("Degraded", "Failed")
  end
  return answer("Degraded", failed.reason .. ": " .. failed.message)
end

if status.terminalState == "Completed" or condition("Completed") ~= nil then
  return answer("Healthy", "Completed")
end

if spec.suspend == true then
  local queue = labels["kueue.x-k8s.io/queue-name"]
  if queue ~= nil then
    return answer("Suspended", "Suspended, waiting for Kueue to admit it (queue " .. queue .. ")")
  end
  return answer("Suspended", "Suspended")
end

-- The status list has its own order, and a job that waits for another is not in it yet.
local counts = {}
for _, s in ipairs(status.replicatedJobsStatus or {}) do
  counts[s.name] = s
end

local wanted, ready, failures, notes = 0, 0, 0, ""
for _, job in ipairs(spec.replicatedJobs or {}) do
  local replicas = job.replicas or 1
  local count = counts[job.name] or {}
  local there = (count.ready or 0) + (count.succeeded or 0)
  -- A job can be counted as ready and as succeeded for a moment.
  if there > replicas then
    there = replicas
  end
  wanted = wanted + replicas
  ready = ready + there
  failures = failures + (count.failed or 0)
  if there < replicas then
    notes = notes .. "; " .. job.name .. " " .. there .. "/" .. replicas
    local started = there + (count.active or 0) + (count.failed or 0)
    if started == 0 and job.dependsOn ~= nil and job.dependsOn[1] ~= nil then
      local before = job.dependsOn[1]
      notes = notes .. " (waits for " .. before.name .. " to be " .. before.status .. ")"
    end
  end
end
if failures > 0 then
  notes = notes .. "; " .. failures .. " failed"
end

local restarting = condition("RestartingJobSet")
if restarting ~= nil then
  local attempt = " (restart " .. (status.restarts or 0) .. "): "
  return answer("Progressing", "Restarting" .. attempt .. restarting.message)
end

local policy = spec.failurePolicy or {}
if policy.restartStrategy == "InPlaceRestart" then
  local previous, current = status.previousInPlaceRestartAttempt, status.currentInPlaceRestartAttempt
  -- JobSet sets no condition for a restart in place; the two attempts are all there is to see.
  if previous ~= nil and current ~= nil and previous >= current then
    return answer("Progressing", "Restarting in place (attempt " .. (previous + 1) .. ")" .. notes)
  end
  if current == nil and ready < wanted then
    local jobs = ready .. "/" .. wanted .. " jobs ready"
    return answer("Progressing", "Waiting for all ranks before the first start, " .. jobs .. notes)
  end
end

local message = ready .. "/" .. wanted .. " jobs ready" .. notes
if ready < wanted then
  return answer("Progressing", message)
end
if wanted > 0 and annotations["argocd-fluid.io/health-running"] == "Progressing" then
  return answer("Progressing", "Running, " .. message)
end
return answer("Healthy", message)
