"""A Lua machine with what Argo CD gives a health script of argocd-cm: base, package, table."""

import pytest
from lupa import luajit21

from tests.bench import build

LIMIT_S = 1

# gopher-lua's base library, without what Argo CD leaves out: `string`, `math`, a global `os`.
PRISON = """
function(limit_s)
  local clock, hook, meta = os.clock, debug.sethook, debug.setmetatable
  local safe_os = {time = os.time, date = os.date}
  jit.off()
  meta('', nil)
  for _, name in ipairs({'string', 'math', 'io', 'debug', 'coroutine', 'jit', 'bit', 'ffi',
                         'os', 'python'}) do
    _G[name] = nil
    package.loaded[name] = nil
  end
  package.loaded.os = safe_os
  return function(script, object)
    obj = object
    local started = clock()
    hook(function()
      if clock() - started > limit_s then error('context deadline exceeded') end
    end, '', 1000)
    local answer = assert(loadstring(script))()
    hook()
    return answer
  end
end
"""


class Machine:
    """One script, one object, one fresh machine, as Argo CD does it."""

    def run(self, script, obj):
        lua = luajit21.LuaRuntime(unpack_returned_tuples=True)
        run = lua.eval(PRISON)(LIMIT_S)
        return run(script, _to_lua(lua, obj))


def _to_lua(lua, value):
    """JSON null is no key at all, numbers are floats, lists count from 1."""
    if isinstance(value, dict):
        return lua.table_from({k: _to_lua(lua, v) for k, v in value.items() if v is not None})
    if isinstance(value, list):
        return lua.table_from([_to_lua(lua, v) for v in value])
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return float(value)


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture(scope="session")
def argocd_program():
    try:
        return build.ensure("argocd") / "argocd"
    except build.Unavailable as problem:
        pytest.skip(str(problem))
