/* Lays out words in lines of a width: wrap WIDTH [l|r|c|j] reads text, blank lines end
   paragraphs. Left, right, centred or justified. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64
#define MAX_WORD 32

static char words[MAX_WORDS][MAX_WORD];
static int n_words;
static int length_of_words;
static int width;
static char kind = 'l';

static void spaces(int n)
{
    while (n-- > 0)
        putchar('.');
}

static void justified(void)
{
    int gaps = n_words - 1;
    int room = width - length_of_words;
    for (int i = 0; i < n_words; i++) {
        fputs(words[i], stdout);
        if (i < gaps) {
            int wide = room / (gaps - i);
            if (room % (gaps - i) != 0)
                wide++;
            spaces(wide);
            room -= wide;
        }
    }
}

static void plain(int before)
{
    spaces(before);
    for (int i = 0; i < n_words; i++) {
        if (i > 0)
            spaces(1);
        fputs(words[i], stdout);
    }
}

static void end_line(int is_last)
{
    int room = width - length_of_words - (n_words - 1);
    if (n_words == 0)
        return;
    if (room < 0)
        room = 0;
    if (kind == 'j' && !is_last && n_words > 1)
        justified();
    else if (kind == 'r')
        plain(room);
    else if (kind == 'c')
        plain(room / 2);
    else
        plain(0);
    putchar('\n');
    n_words = 0;
    length_of_words = 0;
}

static void add(const char *word)
{
    int length = (int)strlen(word);
    if (n_words > 0 && length_of_words + n_words + length > width)
        end_line(0);
    if (n_words == MAX_WORDS)
        end_line(0);
    strcpy(words[n_words], word);
    n_words++;
    length_of_words += length;
}

int main(int argc, char **argv)
{
    char word[MAX_WORD];
    int c, length = 0, n_newlines = 0;
    if (argc < 2 || (width = atoi(argv[1])) < 1) {
        puts("a width is needed");
        return 2;
    }
    if (argc > 2)
        kind = argv[2][0];
    while ((c = getchar()) != EOF) {
        if (c != ' ' && c != '\n') {
            n_newlines = 0;
            word[length++] = (char)c;
            if (length < MAX_WORD - 1)
                continue;
        }
        if (length > 0) {
            word[length] = '\0';
            add(word);
            length = 0;
        }
        if (c == '\n' && ++n_newlines == 2) {
            end_line(1);
            putchar('\n');
        }
    }
    if (length > 0) {
        word[length] = '\0';
        add(word);
    }
    end_line(1);
    return 0;
}
