//@ test: 2024 2 28 2
//@ test: 2023 12 31 1
//@ test: 2000 3 1 -1
//@ test: 1999 1 15 -20
//@ test: 2021 13 1 5
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_YEAR 1900
#define LAST_YEAR 2100
#define FARTHEST 90

struct date {
    int year, month, day;
};

static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
static const char *const weekdays[7] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

static int days_in(int year, int month)
{
    assert(month >= 1 && month <= 12);
    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
        return 29;
    return lengths[month - 1];
}

static int is_date(const struct date *date)
{
    if (date->year < FIRST_YEAR || date->year > LAST_YEAR)
        return 0;
    if (date->month < 1 || date->month > 12)
        return 0;
    return date->day >= 1 && date->day <= days_in(date->year, date->month);
}

static void move(struct date *date, int days)
{
    date->day += days;
    while (date->day < 1) {
        if (--date->month < 1) {
            date->month = 12;
            date->year--;
        }
        date->day += days_in(date->year, date->month);
    }
    while (date->day > days_in(date->year, date->month)) {
        date->day -= days_in(date->year, date->month);
        if (++date->month > 12) {
            date->month = 1;
            date->year++;
        }
    }
}

static const char *weekday(const struct date *date)
{
    static const int shift[12] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    int year = date->month < 3 ? date->year - 1 : date->year;
    int sum = year + year / 4 - year / 100 + year / 400;
    return weekdays[(sum + shift[date->month - 1] + date->day) % 7];
}

int main(int argc, char **argv)
{
    struct date date;
    int i, days, passed = 0;
    if (argc < 5)
        return 1;
    date.year = atoi(argv[1]);
    date.month = atoi(argv[2]);
    date.day = atoi(argv[3]);
    days = atoi(argv[4]);
    if (!is_date(&date) || days < -FARTHEST || days > FARTHEST) {
        printf("no such date\n");
        return 0;
    }
    move(&date, days);
    for (i = 1; i < date.month; i++)
        passed += days_in(date.year, i);
    passed += date.day;
    assert(passed >= 1 && passed <= 366);
    printf("%s %d-%02d-%02d, day %d\n", weekday(&date), date.year, date.month, date.day, passed);
    return 0;
}
