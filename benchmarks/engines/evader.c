/*
 * An engine that tries to think on time that is not charged to its clock.
 *
 *     evader HOW THINK_MS MOVE...
 *
 * It answers with the moves in turn. Before each it spends about THINK_MS of wall time, as HOW says:
 *
 *     honest    computes
 *     sleeper   sleeps
 *     threads   computes in 56 threads, which wait for each other
 *     relay     computes in two threads; one sleeps until the other wakes it
 *     children  computes in children of 3 ms each, which the kernel reaps
 *     ticks     computes between ticks of 4 ms, and sleeps while they come
 *     tocks     computes only while a tick comes
 *
 * Reports as `info nodes` the thousands of steps that it has computed, in all its threads and children.
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 56, TICK_US = 4000, EDGE_US = 400, CHILD_US = 3000, STEPS = 1000, ROOM = 1 << 16 };

static const char *how;
static long long until_us;
static long *shared;
static int baton[2][2];

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void sleep_us(long long us)
{
    struct timespec span = {us / 1000000, us % 1000000 * 1000};
    if (us > 0)
        nanosleep(&span, NULL);
}

static void compute_until(long long end_us)
{
    volatile unsigned state = 1;
    while (now_us() < end_us) {
        for (int step = 0; step < STEPS; step++)
            state = state * 1103515245 + 12345;
        __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
    }
}

static void *compute_thread(void *unused)
{
    compute_until(until_us);
    return unused;
}

static void *relay_thread(void *argument)
{
    long mine = (long)argument;
    char word = 0;
    while (read(baton[mine][0], &word, 1) == 1 && now_us() < until_us) {
        compute_until(now_us() + 1000);
        if (write(baton[1 - mine][1], &word, 1) != 1)
            break;
    }
    if (write(baton[1 - mine][1], &word, 1) != 1)
        return NULL;
    return argument;
}

static void run_threads(int count, void *(*run)(void *))
{
    pthread_t threads[THREADS];
    int started = 0;
    while (started < count && pthread_create(&threads[started], NULL, run, (void *)(long)started) == 0)
        started++;
    for (int thread = 0; thread < started; thread++)
        pthread_join(threads[thread], NULL);
}

static void relay(void)
{
    if (pipe(baton[0]) != 0 || pipe(baton[1]) != 0 || write(baton[0][1], "x", 1) != 1)
        exit(1);
    run_threads(2, relay_thread);
    for (int end = 0; end < 4; end++)
        close(baton[end / 2][end % 2]);
}

static void children(void)
{
    signal(SIGCHLD, SIG_IGN);
    while (now_us() < until_us) {
        pid_t child = fork();
        if (child == 0) {
            compute_until(now_us() + CHILD_US);
            _exit(0);
        }
        if (child < 0)
            return;
        waitpid(child, NULL, 0);
    }
}

static void keep_step(int at_ticks)
{
    while (now_us() < until_us) {
        long long tick = now_us() / TICK_US * TICK_US;
        if (at_ticks) {
            sleep_us(tick + TICK_US - EDGE_US - now_us());
            compute_until(tick + TICK_US + EDGE_US);
        } else {
            sleep_us(tick + EDGE_US - now_us());
            compute_until(tick + TICK_US - EDGE_US);
            sleep_us(tick + TICK_US + EDGE_US - now_us());
        }
    }
}

static void think(void)
{
    if (strcmp(how, "honest") == 0)
        compute_until(until_us);
    else if (strcmp(how, "sleeper") == 0)
        sleep_us(until_us - now_us());
    else if (strcmp(how, "threads") == 0)
        run_threads(THREADS, compute_thread);
    else if (strcmp(how, "relay") == 0)
        relay();
    else if (strcmp(how, "children") == 0)
        children();
    else
        keep_step(strcmp(how, "tocks") == 0);
}

static int count_moves(const char *line)
{
    const char *at = strstr(line, " moves ");
    int count = 0;
    for (at = at ? at + strlen(" moves") : NULL; at != NULL; at = strchr(at + 1, ' '))
        count++;
    return count;
}

int main(int argc, char **argv)
{
    static char line[ROOM];
    int played = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: evader HOW THINK_MS MOVE...\n");
        return 2;
    }
    how = argv[1];
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setvbuf(stdout, NULL, _IOLBF, ROOM);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, "position", 8) == 0)
            played = count_moves(line);
        else if (strncmp(line, "go", 2) == 0) {
            *shared = 0;
            until_us = now_us() + 1000 * atol(argv[2]);
            think();
            printf("info nodes %ld\n", *shared);
            printf("bestmove %s\n", played + 3 < argc ? argv[played + 3] : "resign");
        } else if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        else if (strncmp(line, "ugi", 3) == 0 && line[3] < ' ')
            puts("id name Evader\nugiok");
        else if (strncmp(line, "quit", 4) == 0)
            return 0;
    }
    return 0;
}
