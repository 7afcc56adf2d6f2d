/* Takes two symbols that glibc 2.31 does not have in the version that glibc 2.34 gives them. */
#include <pthread.h>
#include <sys/stat.h>
static void *run(void *argument) { return argument; }
int start(const char *path)
{
    struct stat facts;
    pthread_t thread;
    return stat(path, &facts) + pthread_create(&thread, 0, run, 0);
}
#ifdef PROGRAM
int main(int count, char **words) { return start(words[count - 1]); }
#endif
