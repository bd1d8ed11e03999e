// The main program: reads the arguments of a kernel from files, launches it, writes them back.
#pragma once

#include <hip/hip_runtime.h>

namespace expctl_host {

constexpr size_t MARGIN = 4096;  // bytes around each array, in which nothing may be written
constexpr unsigned char MARK = 0xa5;

struct Argument {
    unsigned char *block;
    size_t bytes;
    void *data;     // of an array: where it begins. Scalars are passed as their bytes
    bool is_array;
};

static Argument arguments[64];

static void path_of(char (&path)[4096], const char *folder, int argument) {
    std::snprintf(path, sizeof path, "%s/%d", folder, argument);
}

static void read(const char *folder, int at, Argument &argument) {
    char path[4096];
    path_of(path, folder, at);
    std::FILE *file = std::fopen(path, "rb");
    if (!file) refuse("an argument has no file");
    std::fseek(file, 0, SEEK_END);
    argument.bytes = std::ftell(file);
    std::rewind(file);
    const size_t whole = argument.bytes + 2 * MARGIN;
    argument.block = static_cast<unsigned char *>(std::aligned_alloc(MARGIN, (whole + MARGIN - 1) / MARGIN * MARGIN));
    std::memset(argument.block, MARK, whole);
    argument.data = argument.block + MARGIN;
    if (std::fread(argument.data, 1, argument.bytes, file) != argument.bytes) refuse("an argument can't be read");
    std::fclose(file);
}

static void write(const char *folder, int at, const Argument &argument) {
    const unsigned char *behind = argument.block + MARGIN + argument.bytes;
    for (size_t i = 0; i < MARGIN; ++i)
        if (argument.block[i] != MARK || behind[i] != MARK) refuse("a write outside of an array");
    char path[4096];
    path_of(path, folder, at);
    std::FILE *file = std::fopen(path, "wb");
    std::fwrite(argument.data, 1, argument.bytes, file);
    std::fclose(file);
}

template <class... P, size_t... I> static void call(void (*kernel)(P...), std::index_sequence<I...>) {
    kernel(*static_cast<P *>(arguments[I].is_array ? static_cast<void *>(&arguments[I].data) : arguments[I].data)...);
}

template <class... P> struct Called {
    static inline void (*kernel)(P...);
    static void now() { call(kernel, std::index_sequence_for<P...>()); }
};

// Words: a folder that has the arguments as files 0, 1, ...; a letter for each, a for an array and s for a scalar; f to run
// forward or b backward; the grid in workgroups and the block in threads, three numbers each. Prints the names of the
// functions that were called and that a machine may round in its own way.
template <class... P> static int launch(void (*kernel)(P...), char **words) {
    const int count = sizeof...(P);
    if (std::strlen(words[2]) != count) refuse("the kernel has another number of parameters");
    is_backward = *words[3] == 'b';
    for (int i = 0; i < count; ++i) read(words[1], i, arguments[i]), arguments[i].is_array = words[2][i] == 'a';
    unsigned sizes[6];
    for (int i = 0; i < 6; ++i) sizes[i] = std::atoi(words[4 + i]);
    gridDim = {sizes[0], sizes[1], sizes[2]}, blockDim = {sizes[3], sizes[4], sizes[5]};
    Called<P...>::kernel = kernel;
    body = Called<P...>::now;
    run_grid();
    for (int i = 0; i < count; ++i) write(words[1], i, arguments[i]);
    for (int i = 0; i < rounded_count; ++i) std::printf("%s\n", rounded[i]);
    return 0;
}

}  // namespace expctl_host
