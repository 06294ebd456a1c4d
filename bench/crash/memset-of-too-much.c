#include <stdio.h>
#include <string.h>

struct header {
    char tag[8];
    int flags;
    int pad;
    const char *title;
};
static struct header file;

static void reset_tag(struct header *header)
{
    memset(header->tag, 0, sizeof *header); //~ first
}

int main(void)
{
    file.title = "report";
    file.flags = 1;
    reset_tag(&file);
    printf("%c\n", file.title[0]);
    return 0;
}
