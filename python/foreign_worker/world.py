"""What a Python candidate sees of the machine and of the process that records it.

Clocks and identities are answered by the recording runtime, with other answers in every call. Here are the ways of Python: variables of
the environment have made-up values, and looking at loaded modules, frames, objects or files that are not the candidate's ends the process.
What belongs to Python or to an installed package may look at everything.
"""
import os
import sys
import sysconfig

OURS = "<kernelwright "
CONFIGURATION = ("CUDA_", "TORCH_", "PYTORCH_", "TRITON_", "CUTE_", "NVCC_")  # where tools are; read before the calls
OUTSIDE = ("/proc", "/sys", "/dev", "/etc", "/run", "/var", "/tmp")
ALLOWED = ("/dev/null", "/dev/urandom", "/etc/localtime")
LOOKS = {"gc.get_objects": "the objects of its process", "gc.get_referrers": "the objects of its process",
         "gc.get_referents": "the objects of its process", "ctypes.dlopen": "other libraries", "ctypes.dlsym": "other libraries",
         "ctypes.dlsym/handle": "other libraries", "sys._current_frames": "the frames of its callers"}
frame_at = sys._getframe


class World:
    def __init__(self, job, runtime, end):
        self.runtime, self.end, self.own, self.busy = runtime, end, set(), False
        self.folder = os.path.dirname(job["path"])
        self.given = job["variables"]  # whether variables are set while the file is loaded
        library = sysconfig.get_paths()
        self.library, self.packages = library["stdlib"], {library["purelib"], library["platlib"]}

    def looks(self, what):
        self.end(f"it looks at {what}, which is not the same everywhere")

    def is_foreign(self, frame):
        """Whether a frame runs code of the candidate: neither ours nor of an installed package or of Python."""
        name = frame.f_code.co_filename
        if name.startswith((OURS, "<frozen ")) or any(name.startswith(folder) for folder in self.packages):
            return False
        return "-packages" not in name and not name.startswith(self.library)

    def asked_by_candidate(self, frame):
        """Whether the candidate asks, by itself or through Python's own library."""
        while frame is not None:
            name = frame.f_code.co_filename
            of_python = name.startswith("<frozen ") or name.startswith(self.library) and "-packages" not in name
            if not of_python:
                return self.is_foreign(frame)
            if "importlib" in name:
                return False
            frame = frame.f_back
        return False

    def check_file(self, path, frame):
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        path = os.path.abspath(os.fsdecode(path))
        if path in ALLOWED or path.startswith(self.folder + "/") or path == self.folder:
            return
        if (self.runtime.inside or path.startswith(OUTSIDE)) and self.asked_by_candidate(frame):
            self.looks("files")

    def audit(self, event, words):
        if self.busy or event not in LOOKS and event not in ("open", "os.listdir", "os.scandir", "sys._getframe"):
            return
        self.busy = True
        try:
            frame = frame_at(1)
            if event in LOOKS:
                if self.asked_by_candidate(frame):
                    self.looks(LOOKS[event])
            elif event == "sys._getframe":
                while frame is not None and frame.f_code.co_filename.startswith(self.library) and \
                        os.path.basename(frame.f_code.co_filename) in ("inspect.py", "traceback.py"):
                    frame = frame.f_back
                if frame is not None and self.is_foreign(frame):
                    self.looks("the frames of its callers")
            elif words:
                self.check_file(words[0], frame)
        finally:
            self.busy = False

    def variable(self, key):
        if not self.runtime.inside:
            configures = str(key).startswith(CONFIGURATION)
            return None if configures else self.given
        value = self.runtime.variable(str(key).encode())
        return None if value is None else value.decode()

    def caller(self, depth):
        self.busy, before = True, self.busy
        try:
            return frame_at(depth + 1)
        finally:
            self.busy = before


def watch_modules(world):
    interpreters = sys.modules  # which the interpreter's own code uses; both have the same modules

    class Modules(dict):
        """sys.modules. A candidate may ask for its own module."""

        def __setitem__(self, name, module):
            dict.__setitem__(self, name, module)
            interpreters[name] = module

        def __delitem__(self, name):
            dict.__delitem__(self, name)
            interpreters.pop(name, None)

    def watched(name):
        ordinary = getattr(dict, name)

        def method(self, *words):
            frame = world.caller(1)
            if world.is_foreign(frame) and not (words and words[0] == frame.f_globals.get("__name__")):
                world.looks("the modules of its process")
            if name == "pop":
                interpreters.pop(words[0], None)
            return ordinary(self, *words)

        return method

    for name in ("__getitem__", "__contains__", "__iter__", "__len__", "get", "keys", "values", "items", "copy", "pop"):
        setattr(Modules, name, watched(name))
    sys.modules = Modules(sys.modules)


def watch_environment(world):
    base = type(os.environ)

    class Variables(base):
        def __getitem__(self, key):
            if key in world.own or not world.asked_by_candidate(world.caller(1)):
                return base.__getitem__(self, key)
            value = world.variable(key)
            if value is None:
                raise KeyError(key)
            return value

        def __setitem__(self, key, value):
            world.own.add(key)
            base.__setitem__(self, key, value)

        def __iter__(self):
            if world.asked_by_candidate(world.caller(1)):
                world.looks("the list of environment variables")
            return base.__iter__(self)

        def __len__(self):
            if world.asked_by_candidate(world.caller(1)):
                world.looks("the list of environment variables")
            return base.__len__(self)

    os.environ.__class__ = Variables


def watch_files(world):
    def watched(ordinary):
        def function(path, *words, **named):
            world.check_file(path, world.caller(1))
            return ordinary(path, *words, **named)

        return function

    for name in ("stat", "lstat", "access", "readlink"):
        setattr(os, name, watched(getattr(os, name)))


def install(job, runtime, end):
    world = World(job, runtime, end)
    for name in [name for name in sys.modules if name.split(".")[0] == "kw_foreign_worker"]:
        del sys.modules[name]
    main = sys.modules.get("__main__")
    for name in [name for name in vars(main) if not name.startswith("__")]:
        delattr(main, name)
    watch_modules(world)
    watch_environment(world)
    watch_files(world)
    sys.addaudithook(world.audit)
    return world
