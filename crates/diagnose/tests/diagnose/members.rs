//! Strings that end, or do not, in the member array that a call names.

use crate::common::diagnose;

/// A program that copies its argument into a member without a zero where it is long.
fn program(uses: &str) -> String {
    format!(
        "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user {{ char name[8]; char group[8]; int id; char rest[1]; }};
int main(int argc, char **argv) {{
  struct user *u = calloc(1, sizeof *u + 20);
  char t[80];
  char *p = u->name;
  if (argc < 2)
    return 1;
  strncpy(u->name, argv[1], sizeof u->name);
  u->id = 65;
  strncpy(u->rest, argv[1], 12);
  {uses}
  return t[0] + p[0];
}}
"
    )
}

/// The line of the violation found, if any.
fn found(uses: &str) -> Option<u32> {
    diagnose(&program(uses), None, Vec::new()).violation.map(|found| found.place.line)
}

#[test]
fn a_string_is_not_read_past_the_member_that_is_named() {
    for uses in [
        "t[0] = (char)strlen(u->name);",
        "strcpy(t, u->name);",
        "t[0] = 0; strcat(t, u->name);",
        "t[0] = (char)strcmp(u->name, argv[1]);",
        "t[0] = strchr(u->name, 'x') != NULL;",
        "t[0] = strstr(u->name, \"xy\") != NULL;",
        "printf(\"%s\", u->name); t[0] = 0;",
        "sprintf(t, \"%d %s\", 1, u->name);",
        "puts(u->name); t[0] = 0;",
    ] {
        assert_eq!(found(uses), Some(14), "{uses}");
    }
}

#[test]
fn what_stops_in_time_or_means_the_whole_object_is_no_fault() {
    for uses in [
        "u->name[7] = 0; strcpy(t, u->name);",
        "printf(\"%.8s\", u->name); t[0] = 0;",
        "strncpy(t, u->name, 8);",
        "t[0] = (char)strnlen(u->name, sizeof u->name);",
        "memcpy(t, u->name, 16);",
        "strcpy(t, p);",
        "strcpy(t, u->rest);",
        "t[0] = (char)strncmp(u->name, u->group, 8);",
    ] {
        assert_eq!(found(uses), None, "{uses}");
    }
}
