/* `--sandbox`: Landlock for files, seccomp for programs and connections, resource limits.
 *
 * Landlock (Linux 5.13) forbids all access to files but beneath given folders; seccomp refuses
 * system calls. Both are one-way for the process and what it starts. The list of refused calls is
 * short on purpose: a list of allowed ones would break with each version of the C library, and what
 * matters, files, programs and connections, is covered by what is here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH, syscall */
#endif
#include "sandbox.h"

#include "internal.h"

#include <stdio.h>
#include <string.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files: Landlock ---------------------------------------------------------------------- */

/* As in the kernel's header, which may be older than the kernel. */
enum {
    CREATE_RULESET = 444,
    ADD_RULE = 445,
    RESTRICT_SELF = 446,
    VERSION = 1, /* flag: only ask for the version */
    BENEATH = 1, /* kind of a rule */
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    REMOVE_FOLDER = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_FOLDER = 1 << 7,
    MAKE_FILE = 1 << 8,
    TRUNCATE = 1 << 14,
    FIRST_VERSION = (1 << 13) - 1, /* the rights that version 1 knows */
    READING = READ_FILE | READ_FOLDER,
    WRITING =
        READING | WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | TRUNCATE
};

typedef struct __attribute__((packed)) Beneath {
    uint64_t allowed;
    int32_t folder;
} Beneath;

static uint64_t rights_of(long version)
{
    uint64_t rights = FIRST_VERSION;
    if (version >= 2) rights |= 1 << 13; /* to move files between folders */
    if (version >= 3) rights |= TRUNCATE;
    return rights;
}

/* Files that are not there need no rule. */
static bool allow(int rules, const char *path, uint64_t rights)
{
    struct stat info;
    int at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0) return errno == ENOENT || errno == EACCES;
    if (fstat(at, &info) == 0 && !S_ISDIR(info.st_mode))
        rights &= READ_FILE | WRITE_FILE | TRUNCATE;
    Beneath rule = {.allowed = rights, .folder = at};
    bool done = syscall(ADD_RULE, rules, BENEATH, &rule, 0) == 0;
    close(at);
    return done;
}

/* What the C library and CHOLMOD read: libraries, locales, the number of cores, memory. */
static const char *const of_the_system[] = {"/lib",
                                            "/lib64",
                                            "/usr/lib",
                                            "/usr/local/lib",
                                            "/usr/share/locale",
                                            "/etc/ld.so.cache",
                                            "/proc/meminfo",
                                            "/proc/cpuinfo",
                                            "/sys/devices/system/cpu",
                                            "/dev/null",
                                            "/dev/urandom"};

static bool restrict_files(const char *scene, const char *out)
{
    uint64_t rights = rights_of(syscall(CREATE_RULESET, NULL, 0, VERSION));
    int rules = (int)syscall(CREATE_RULESET, &rights, sizeof rights, 0);
    if (rules < 0) return false;
    bool done = allow(rules, scene, READING);
    for (size_t i = 0; i < BRIO_COUNT(of_the_system); i++)
        done = done && allow(rules, of_the_system[i], READING);
    if (out) done = done && allow(rules, out, WRITING & rights);
    done = done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(RESTRICT_SELF, rules, 0) == 0;
    close(rules);
    return done;
}

/* ---- programs and connections: seccomp ---------------------------------------------------- */

#ifdef __x86_64__
#define THIS_MACHINE AUDIT_ARCH_X86_64
#else
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

static const int refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_mount,
    SYS_process_vm_writev,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_io_uring_setup,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_open_by_handle_at,
    SYS_pidfd_getfd,
    SYS_name_to_handle_at,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
};

static bool restrict_calls(void)
{
    enum { HEAD = 4, ALL = HEAD + (int)BRIO_COUNT(refused) + 2 };
    struct sock_filter code[ALL] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 0, ALL - 3), /* to the refusal */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, ALL - 5, 0), /* calls of the x32 kind */
    };
    for (int i = 0; i < (int)BRIO_COUNT(refused); i++) {
        const uint8_t to_refusal = (uint8_t)(ALL - 2 - (HEAD + i));
        code[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                      (uint32_t)refused[i], to_refusal, 0);
    }
    code[ALL - 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[ALL - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    const struct sock_fprog program = {.len = ALL, .filter = code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

static bool lower(int what, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(what, &limit)) return false;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most) most = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = most;
    return setrlimit(what, &limit) == 0;
}

/* Memory: what the machine has; a file: 16 GB; no image of the process where it crashes. */
static bool set_limits(void)
{
    const rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE), pages = (rlim_t)sysconf(_SC_PHYS_PAGES);
    return lower(RLIMIT_AS, page * pages) && lower(RLIMIT_FSIZE, (rlim_t)16 << 30) &&
           lower(RLIMIT_NOFILE, 256) && lower(RLIMIT_CORE, 0);
}

/* The folder of a file's name; a name without one is a file here or a scene that ships. */
static void folder_of(const char *scene, char *folder, size_t size)
{
    const char *slash = strrchr(scene, '/');
    if (slash)
        snprintf(folder, size, "%.*s", (int)(slash - scene) + 1, scene);
    else
        snprintf(folder, size, "%s", access(scene, F_OK) ? brio_scenes_folder() : ".");
}

bool sandbox_enter(const char *scene, const char *out, char *why, size_t size)
{
    char folder[4096];
    if (syscall(CREATE_RULESET, NULL, 0, VERSION) < 1) {
        snprintf(why, size,
                 "--sandbox needs Landlock, which this kernel does not have or has "
                 "switched off (Linux 5.13 or newer); use a container instead");
        return false;
    }
    if (out && mkdir(out, 0777) && errno != EEXIST) {
        snprintf(why, size, "%s: %s", out, strerror(errno));
        return false;
    }
    folder_of(scene, folder, sizeof folder);
    if (set_limits() && restrict_files(folder, out) && restrict_calls()) return true;
    snprintf(why, size, "--sandbox: the kernel refused it (%s); nothing was run", strerror(errno));
    return false;
}

#else

bool sandbox_enter(const char *scene, const char *out, char *why, size_t size)
{
    (void)scene, (void)out;
    snprintf(why, size, "--sandbox needs Linux on x86-64 or ARM64; use a container instead");
    return false;
}

#endif
