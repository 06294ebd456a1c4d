/* A string cut into words. */
static char line[] = "get  the words"; static char *words[4]; static int n;
static char *skip(char *s) { while (*s == ' ') s++; return s; }
int main(void) { know("line", line, sizeof line); know("words", words, sizeof words); char *p = line;
    while (*(p = skip(p)) && n < 4) { see("word", p); words[n++] = p; char *end = strchr(p, ' '); see("end", end); if (!end) break; *end = 0; p = end + 1; see_int("first", *p); }
    see_int("n", n); see("second", words[1]); long v = strtol("12x", &p, 10); see_int("v", v); watch("copy"); strcpy(words[0], "ab"); changed("copy"); see_int("c", line[0]); return 0; }
