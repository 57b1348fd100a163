// Runs a program whose writes fail on some files, as on a broken or a full disk:
//   io-faults ERRNO write|sync PART SWITCH PROGRAM [ARGUMENT...]
// Calls for files whose path contains PART fail with ERRNO as long as the file SWITCH exists. The system asks this
// program about every such call of the other one and of all its children.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter writes[] = {NUMBER, ASK(write), ASK(writev), ASK(pwrite64), ASK(pwritev), ALLOW};
static struct sock_filter syncs[] = {NUMBER, ASK(fsync), ASK(fdatasync), ALLOW};

static int matches(const struct seccomp_notif *call, const char *part) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)call->pid, (int)call->data.args[0]);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, part) != NULL;
}

static void answer(int listener, int error, const char *part, const char *switched) {
  struct seccomp_notif call = {0};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  struct seccomp_notif_resp response = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  if (access(switched, F_OK) == 0 && matches(&call, part)) {
    response.flags = 0;
    response.error = -error;
  }
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int count, char **arguments) {
  if (count < 6) return 125;
  int is_sync = strcmp(arguments[2], "sync") == 0;
  struct sock_fprog filter = {
      .len = is_sync ? sizeof syncs / sizeof *syncs : sizeof writes / sizeof *writes,
      .filter = is_sync ? syncs : writes,
  };
  // From here on this program writes nothing: nobody would answer it.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 126;
  int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
  if (listener < 0) return 126;
  pid_t child = fork();
  if (child < 0) return 126;
  if (child == 0) {
    close(listener);
    execvp(arguments[5], arguments + 5);
    _exit(127);
  }
  for (int status;;) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    if (poll(&waiting, 1, 20) > 0) answer(listener, atoi(arguments[1]), arguments[3], arguments[4]);
  }
}
