"""Memory that a function has for itself: what lives one after another may be one, what lives at once is several."""

import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from expctl.inspection.readers.compiled_functions import read_functions

HEAD = '; ModuleID\ntarget triple = "x86_64-unknown-linux-musl"\n'
BEFORE = """
extern "C" void fill(float *), two(float *, float *), three(float *, float *, float *);
extern "C" float sum(const float *);
static inline float filled(int k) { float a[16]; fill(a); return a[k]; }
"""
TAKEN = "int n, int m, float *out"


def compiled(bodies: Mapping[str, str]) -> Mapping[str, str]:
    """Return the hash of each of these bodies of a function in C++."""
    functions = (f'extern "C" float {name}({TAKEN}) {{ {body} }}\n' for name, body in bodies.items())
    argv = [sys.executable, "-m", "ziglang", "clang", "-x", "c++", "-S", "-emit-llvm", "-O1", "--target=x86_64-linux-musl"]
    source = BEFORE + "".join(functions)
    ran = subprocess.run([*argv, "-nostdinc", "-o", "-", "-"], input=source, capture_output=True, text=True, check=True)
    return read_functions("meaning", ran.stdout)[0]


def same(pair: tuple[str, str]) -> bool:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    found = compiled({"one": pair[0], "other": pair[1]})
    return found["one"] == found["other"]


ONE_FOR_BOTH = {
    "a lambda called twice": (
        "auto g = [&](int k) { float a[16]; fill(a); return a[k]; }; return g(n) - g(m);",
        "float a[16]; fill(a); float x = a[n]; fill(a); return x - a[m];",
    ),
    "a helper that is inlined twice": (
        "return filled(n) - filled(m);",
        "float a[16]; fill(a); float x = a[n]; fill(a); return x - a[m];",
    ),
    "a block after another": (
        "float s; { float a[16]; fill(a); s = a[n]; } { float b[16]; fill(b); return s - b[m]; }",
        "float s, a[16]; { fill(a); s = a[n]; } { fill(a); return s - a[m]; }",
    ),
    "blocks in a loop, and after it": (
        "float s = 0; for (int i = 0; i < m; ++i) { float a[16]; fill(a); s += sum(a); } { float b[16]; fill(b); "
        "s += b[n]; } return s;",
        "float s = 0, a[16]; for (int i = 0; i < m; ++i) { fill(a); s += sum(a); } { fill(a); s += a[n]; } return s;",
    ),
    "two blocks in one loop": (
        "for (int i = 0; i < m; ++i) { { float a[16]; fill(a); out[i] = sum(a); } { float b[16]; fill(b); "
        "out[i] -= sum(b); } } return 0;",
        "for (int i = 0; i < m; ++i) { float a[16]; fill(a); out[i] = sum(a); fill(a); out[i] -= sum(a); } return 0;",
    ),
    "one in each branch": (
        "if (n > m) { float a[16]; fill(a); return sum(a); } else { float b[16]; two(b, out); return b[m]; }",
        "float a[16]; if (n > m) { fill(a); return sum(a); } else { two(a, out); return a[m]; }",
    ),
    "two within another": (
        "float a[16], s; fill(a); { float b[16]; two(a, b); s = b[n]; } { float c[16]; two(c, a); s -= c[m]; "
        "} return s - sum(a);",
        "float a[16], b[16], s; fill(a); two(a, b); s = b[n]; two(b, a); s -= b[m]; return s - sum(a);",
    ),
    "two of three that are declared in another order": (
        "float a[16], b[16]; two(a, b); float c[16]; fill(c); return a[n] - b[m] - c[n];",
        "float c[16]; float b[16], a[16]; two(a, b); fill(c); return a[n] - b[m] - c[n];",
    ),
    "two that are declared in another order": (
        "float a[16], b[16]; two(a, b); return a[n] - sum(b);",
        "float b[16], a[16]; two(a, b); return a[n] - sum(b);",
    ),
    "three that are declared in another order, in a loop": (
        "float a[16], b[16], c[16]; for (int i = 0; i < m; ++i) { three(a, b, c); out[i] = a[i] - b[n] * c[m]; "
        "} return sum(b);",
        "float c[16], a[16], b[16]; for (int i = 0; i < m; ++i) { three(a, b, c); out[i] = a[i] - b[n] * c[m]; "
        "} return sum(b);",
    ),
}  # fmt: skip
SEVERAL = {
    "what is read of two": (
        "float a[16], b[16]; two(a, b); return a[n] - sum(b);",
        "float a[16], b[16]; two(a, b); return b[n] - sum(a);",
    ),
    "which is read of two": (
        "float a[16], b[16]; two(a, b); return a[n];",
        "float a[16], b[16]; two(a, b); return b[n];",
    ),
    "one in place of two": (
        "float a[16], b[16]; fill(a); fill(b); return a[n] - b[m];",
        "float a[16]; fill(a); fill(a); return a[n] - a[m];",
    ),
    "which is filled again": (
        "float a[16], b[16]; two(a, b); fill(a); return sum(a) - sum(b);",
        "float a[16], b[16]; two(a, b); fill(b); return sum(a) - sum(b);",
    ),
    "which lives on in a loop": (
        "float a[16], b[16]; two(a, b); for (int i = 0; i < m; ++i) { two(a, b); out[i] = a[n]; } return sum(a);",
        "float a[16], b[16]; two(a, b); for (int i = 0; i < m; ++i) { two(b, a); out[i] = a[n]; } return sum(a);",
    ),
    "which is stored to in a loop": (
        "float a[16], b[16]; two(a, b); for (int i = 0; i < n; ++i) { a[i] = out[i]; } two(a, b); return sum(b);",
        "float a[16], b[16]; two(a, b); for (int i = 0; i < n; ++i) { b[i] = out[i]; } two(a, b); return sum(b);",
    ),
    "the inner one or the outer one": (
        "float a[16]; fill(a); for (int i = 0; i < m; ++i) { float b[16]; fill(b); out[i] = a[n] - sum(b); } return sum(a);",
        "float a[16]; fill(a); for (int i = 0; i < m; ++i) { fill(a); out[i] = a[n] - sum(a); } return sum(a);",
    ),
    "what takes the place of one beside another": (
        "float b[16]; fill(b); { float a[16]; two(a, b); } { float c[16]; two(c, b); } return sum(b);",
        "float b[16]; fill(b); { float a[16]; two(a, b); } { float c[16]; two(b, c); } return sum(b);",
    ),
    "branches that choose": (
        "float a[16], b[16]; two(a, b); float *p = n > m ? a : b; fill(p); return sum(a) - sum(b);",
        "float a[16], b[16]; two(a, b); float *p = n > m ? b : a; fill(p); return sum(a) - sum(b);",
    ),
    "two that take turns": (
        "float a[16], b[16], *p = a, *q = b; two(a, b); for (int i = 0; i < m; ++i) { two(p, q); float *r = p; p = q; "
        "q = r; } return sum(a);",
        "float a[16], b[16], *p = b, *q = a; two(a, b); for (int i = 0; i < m; ++i) { two(p, q); float *r = p; p = q; "
        "q = r; } return sum(a);",
    ),
    "another size": (
        "float s; { float a[16]; fill(a); s = a[n]; } { float b[16]; fill(b); return s - b[m]; }",
        "float s; { float a[16]; fill(a); s = a[n]; } { float b[24]; fill(b); return s - b[m]; }",
    ),
    "what lives on where the function goes on": (
        "float a[16]; fill(a); if (n > m) return sum(a); float b[16]; two(a, b); return a[m] - b[n];",
        "float a[16]; fill(a); if (n > m) return sum(a); float b[16]; two(b, a); return a[m] - b[n];",
    ),
    "a row of rows, or a longer one": (
        "float a[4][4]; fill(a[0]); return a[n][m];",
        "float a[5][4]; fill(a[0]); return a[n][m];",
    ),
    "which is forgotten between turns": (
        "float a[16]; fill(a); for (int i = 0; i < m; ++i) { float b[16]; two(a, b); out[i] = sum(b); } return sum(a);",
        "float a[16]; fill(a); for (int i = 0; i < m; ++i) { float b[16]; two(a, b); out[i] = sum(b); } return 0;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", ONE_FOR_BOTH.values(), ids=[*ONE_FOR_BOTH])
def test_what_clang_makes_of_arrays_that_may_be_one_is_the_same(pair: tuple[str, str]) -> None:
    assert same(pair)


@pytest.mark.parametrize("pair", SEVERAL.values(), ids=[*SEVERAL])
def test_what_clang_makes_of_arrays_that_are_several_is_not(pair: tuple[str, str]) -> None:
    assert not same(pair)


SHORT = {
    "a": ("%{} = alloca [16 x float], align 16", "%{} = alloca [16 x float], align 16"),
    "+": ("call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %{})", "call void @llvm.lifetime.start.p0(ptr nonnull %{})"),
    "-": ("call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %{})", "call void @llvm.lifetime.end.p0(ptr nonnull %{})"),
}
"""What stands for `a x`, `+x` and `-x` below: an array, where its life begins and ends; as older and newer clang write it."""


def written(short: str, *, newer: bool = False) -> str:
    """Return the hash of a function. Its lines are apart by newlines or `; `; `fill x y` calls a function."""
    lines = []
    for line in (each.strip() for part in short.split("\n") for each in part.split("; ")):
        words = line.split()
        if line[:1] in "+-" and line:
            lines += [SHORT[line[0]][newer].format(each) for each in line[1:].split()]
        elif words and words[0] == "a":
            lines += [SHORT["a"][newer].format(each) for each in words[1:]]
        elif words and words[0] in ("fill", "two", "three"):
            lines.append(f"call void @{words[0]}({', '.join(f'ptr noundef %{each}' for each in words[1:])})")
        else:
            lines.append(line)
    body = "".join(f"{line}\n" if line.endswith(":") else f"  {line}\n" for line in lines if line)
    names = dict.fromkeys(re.findall(r"%([a-z]+)|^([a-z]+)(?=:)", body, re.MULTILINE))
    numbers = {name: f"{at}" for at, name in enumerate((one or other for one, other in names), 5)}
    body = re.sub(r"(?<=%)[a-z]+|^[a-z]+(?=:)", lambda found: numbers[found[0]], body, flags=re.MULTILINE)
    text = f"{HEAD}\ndefine dso_local void @f(i32 %0, i1 %1, ptr %2, i1 %3) #0 {{\n{body}}}\n"
    return read_functions("meaning", text)[0]["f"]


READ = "%{0}v = load float, ptr %{0}; store float %{0}v, ptr %2; ret void"
"""The end of a function: what is read of an array is the answer."""

HAND_ONE = {
    "the order of two": ("a x y; two x y; " + READ.format("x"), "a y x; two x y; " + READ.format("x")),
    "the order of two with marks": (
        "a x y; +x y; two x y; fill y; -y x; ret void",
        "a y x; +x y; two x y; fill y; -y x; ret void",
    ),
    "the order of three, two of which are alike": (
        "a x y z; three x y z; two y z; " + READ.format("z"),
        "a z x y; three x y z; two y z; " + READ.format("z"),
    ),
    "one after another": (
        "a x y; +x; fill x; -x; +y; fill y; -y; ret void",
        "a x; +x; fill x; fill x; -x; ret void",
    ),
    "one after another, the second declared first": (
        "a y x; +x; fill x; -x; +y; fill y; -y; ret void",
        "a x; +x; fill x; -x; +x; fill x; -x; ret void",
    ),
    "a life that ends in two branches": (
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; +y; fill y; -y; br label %e\nr:\nfill x; -x; "
        "br label %e\ne:\nret void",
        "a x\n+x; fill x; br i1 %1, label %l, label %r\nl:\nfill x; br label %e\nr:\nfill x; br label %e\ne:\n-x; ret void",
    ),
    "each in a branch of a loop": (
        "a x y\nbr label %h\nh:\nbr i1 %1, label %l, label %r\nl:\n+x; fill x; -x; br label %t\nr:\n+y; two y 2; -y; "
        "br label %t\nt:\n"
        "br i1 %3, label %h, label %e\ne:\nret void",
        "a x\nbr label %h\nh:\n+x; br i1 %1, label %l, label %r\nl:\nfill x; br label %t\nr:\ntwo x 2; br label %t\nt:\n"
        "-x; br i1 %3, label %h, label %e\ne:\nret void",
    ),
    "an address that is computed before its array lives": (
        "a x y; %p = getelementptr float, ptr %y, i32 %0; +x; fill x; -x; +y; fill y; store float 1.0, ptr %p; fill y; "
        "-y; ret void",
        "a x; %p = getelementptr float, ptr %x, i32 %0; +x; fill x; fill x; store float 1.0, ptr %p; fill x; -x; ret void",
    ),
    "three one after another, beside one that lives on": (
        "a w x y z; +w; fill w; +x; two w x; -x; +y; two y w; -y; +z; two w z; -z; -w; ret void",
        "a w x; +w x; fill w; two w x; two x w; two w x; -x w; ret void",
    ),
    "one that lives again": (
        "a x y; +x; fill x; -x; +y; fill y; -y; +x; fill x; -x; ret void",
        "a x; +x; fill x; fill x; fill x; -x; ret void",
    ),
}
HAND_SEVERAL = {
    "what is read": ("a x y; two x y; " + READ.format("x"), "a x y; two x y; " + READ.format("y")),
    "where it is stored": (
        "a x y; two x y; store float 1.0, ptr %x; two x y; ret void",
        "a x y; two x y; store float 1.0, ptr %y; two x y; ret void",
    ),
    "one in place of two": ("a x y; two x y; fill y; ret void", "a x; two x x; fill x; ret void"),
    "one without marks beside one with marks": (
        "a x y; fill x; +y; fill y; -y; " + READ.format("x"),
        "a x; fill x; fill x; " + READ.format("x"),
    ),
    "which has no marks": (
        "a x y; fill x; +y; two x y; -y; " + READ.format("x"),
        "a x y; fill x; +y; two y x; -y; " + READ.format("x"),
    ),
    "nested lives": (
        "a x y; +x; fill x; +y; fill y; -y; fill x; -x; ret void",
        "a x; +x; fill x; fill x; fill x; -x; ret void",
    ),
    "lives that cross": (
        "a x y; +x; fill x; +y; two x y; -x; fill y; -y; ret void",
        "a x y; +x; fill x; +y; two y x; -x; fill y; -y; ret void",
    ),
    "a life that no branch ends": (
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n+y; fill y; -y; fill x; br label %e\nr:\nfill x; "
        "br label %e\ne:\n-x; ret void",
        "a x\n+x; fill x; br i1 %1, label %l, label %r\nl:\nfill x; fill x; br label %e\nr:\nfill x; br label %e\ne:\n-x; "
        "ret void",
    ),
    "one lives again while the other took its place": (
        "a x y; +x; fill x; -x; +y; fill y; +x; two x y; -x; fill y; -y; ret void",
        "a x y; +x; fill x; -x; +y; fill y; +x; two y x; -x; fill y; -y; ret void",
    ),
    "one lives again while the other took its place, or is the same": (
        "a x y; +x; fill x; -x; +y; fill y; +x; fill x; -x; fill y; -y; ret void",
        "a x; +x; fill x; fill x; fill x; fill x; -x; ret void",
    ),
    "a life that goes round a loop, written after the other": (
        "a x y\nbr label %h\nh:\n%i = phi i1 [ %1, %4 ], [ false, %t ]; br i1 %i, label %n, label %t\nt:\n+y; fill y; -y; "
        "fill x; "
        "br i1 %3, label %h, label %e\nn:\n+x; fill x; br label %t\ne:\n-x; ret void",
        "a x\nbr label %h\nh:\n%i = phi i1 [ %1, %4 ], [ false, %t ]; br i1 %i, label %n, label %t\nt:\nfill x; fill x; "
        "br i1 %3, label %h, label %e\nn:\n+x; fill x; br label %t\ne:\n-x; ret void",
    ),
    "a life that ends early on another way": (
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; ret void\nr:\n+y; two x y; -y -x; ret void",
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; ret void\nr:\n+y; two y x; -y -x; ret void",
    ),
    "a life that ends early on another way, or one in place of two": (
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; ret void\nr:\n+y; fill y; fill x; -y -x; ret void",
        "a x\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; ret void\nr:\nfill x; fill x; -x; ret void",
    ),
    "a life that goes round a loop, and begins after the other": (
        "a x y\nbr label %h\nh:\n%i = phi i1 [ %1, %4 ], [ false, %t ]; +y; fill y; -y; br i1 %i, label %n, label %t\n"
        "n:\n+x; fill x; br label %t\nt:\nfill x; br i1 %3, label %h, label %e\ne:\n-x; ret void",
        "a x\nbr label %h\nh:\n%i = phi i1 [ %1, %4 ], [ false, %t ]; fill x; br i1 %i, label %n, label %t\n"
        "n:\nfill x; br label %t\nt:\nfill x; br i1 %3, label %h, label %e\ne:\nret void",
    ),
    "a life that ends in a block which is left out": (
        "a x y\n+x; fill x; br i1 %1, label %l, label %r\nl:\n-x; br label %r\nr:\n+y; fill y; -y; "
        "br i1 %1, label %e, label %s\n"
        "s:\nfill x; -x; br label %e\ne:\nret void",
        "a x\n+x; fill x; br i1 %1, label %l, label %r\nl:\nbr label %r\nr:\nfill x; br i1 %1, label %e, label %s\n"
        "s:\nfill x; -x; br label %e\ne:\nret void",
    ),
    "a life that never ends": (
        "a x y; +x; fill x; +y; two y x; " + READ.format("x"),
        "a x y; +x; fill x; +y; two x y; " + READ.format("x"),
    ),
    "addresses that are chosen": (
        "a x y; +x y; two x y; %p = select i1 %1, ptr %x, ptr %y; fill p; two x y; -y x; ret void",
        "a x y; +x y; two x y; %p = select i1 %1, ptr %y, ptr %x; fill p; two x y; -y x; ret void",
    ),
    "addresses that take turns": (
        "a x y\n+x y; two x y; br label %h\nh:\n%p = phi ptr [ %x, %4 ], [ %q, %h ]; %q = phi ptr [ %y, %4 ], [ %p, %h ]; "
        "two p q\n"
        "br i1 %1, label %h, label %e\ne:\nfill x; -x y; ret void",
        "a x y\n+x y; two x y; br label %h\nh:\n%p = phi ptr [ %y, %4 ], [ %q, %h ]; %q = phi ptr [ %x, %4 ], [ %p, %h ]; "
        "two p q\n"
        "br i1 %1, label %h, label %e\ne:\nfill x; -x y; ret void",
    ),
    "one that is made anew in each turn": (
        "br label %h\nh:\n%p = phi ptr [ null, %4 ], [ %x, %h ]; a x; store ptr %p, ptr %x; br i1 %1, label %h, label %e\n"
        "e:\nfill x; ret void",
        "a x; br label %h\nh:\n%p = phi ptr [ null, %4 ], [ %x, %h ]; store ptr %p, ptr %x; br i1 %1, label %h, label %e\n"
        "e:\nfill x; ret void",
    ),
    "an address computed early": (
        "a x y; %p = getelementptr float, ptr %y, i32 %0; +x; fill x; +y; two x y; store float 1.0, ptr %p; two x y; -y; "
        "-x; ret void",
        "a x y; %p = getelementptr float, ptr %x, i32 %0; +x; fill x; +y; two x y; store float 1.0, ptr %p; two x y; -y; "
        "-x; ret void",
    ),
    "an address kept elsewhere": (
        "a x y; +x y; store ptr %x, ptr %2; two x y; fill x; -y x; ret void",
        "a x y; +x y; store ptr %y, ptr %2; two x y; fill x; -y x; ret void",
    ),
    "an address kept in the other": (
        "a x y; +x y; store ptr %x, ptr %y; two x y; -y x; ret void",
        "a x y; +x y; store ptr %y, ptr %x; two x y; -y x; ret void",
    ),
    "the size": (
        "%x = alloca [16 x float], align 16; fill x; ret void",
        "%x = alloca [24 x float], align 16; fill x; ret void",
    ),
    "how many": (
        "%x = alloca float, i32 %0, align 4; fill x; ret void",
        "%n = add i32 %0, 1; %x = alloca float, i32 %n, align 4; fill x; ret void",
    ),
    "how many, of two": (
        "%n = add i32 %0, 1; %x = alloca float, i32 %0, align 4; %y = alloca float, i32 %n, align 4; two x y; ret void",
        "%n = add i32 %0, 1; %x = alloca float, i32 %n, align 4; %y = alloca float, i32 %0, align 4; two x y; ret void",
    ),
}  # fmt: skip


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("pair", HAND_ONE.values(), ids=[*HAND_ONE])
def test_arrays_that_may_be_one_are_the_same(pair: tuple[str, str], newer: bool) -> None:
    assert written(pair[0], newer=newer) == written(pair[1], newer=newer)


@pytest.mark.parametrize("newer", [False, True])
@pytest.mark.parametrize("pair", HAND_SEVERAL.values(), ids=[*HAND_SEVERAL])
def test_arrays_that_are_several_are_not_the_same(pair: tuple[str, str], newer: bool) -> None:
    assert written(pair[0], newer=newer) != written(pair[1], newer=newer)


@pytest.mark.parametrize("short", [each for pair in (*HAND_ONE.values(), *HAND_SEVERAL.values()) for each in pair])
def test_the_spelling_of_marks_does_not_count(short: str) -> None:
    assert written(short) == written(short, newer=True)
