-- Health of a FluidWorkload: what its controller says in the conditions. It is a child of the workload,
-- so it shows in the resource tree and does not change the health of the Application.
local status = obj.status or {}
local conditions = {}
for _, c in ipairs(status.conditions or {}) do
  conditions[c.type] = c
end

local function text(c)
  if c.message == nil or c.message == "" then
    return c.reason
  end
  return c.message
end

local stalled = conditions.Stalled
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = text(stalled) }
end

if status.observedGeneration == nil or conditions.Ready == nil then
  return { status = "Progressing", message = "Waiting for the argocd-fluid controller" }
end
if status.observedGeneration < (obj.metadata.generation or 0) then
  return { status = "Progressing", message = "The controller has not seen the newest intent" }
end

for _, kind in ipairs({ "Deferred", "Resizing", "Restarting", "Reconciling" }) do
  local c = conditions[kind]
  if c ~= nil and c.status == "True" then
    return { status = "Progressing", message = kind .. ": " .. text(c) }
  end
end

if conditions.Ready.status ~= "True" then
  return { status = "Progressing", message = text(conditions.Ready) }
end
return { status = "Healthy", message = text(conditions.Ready) }
