"""The sections of a page, a file for each subject: functions from runs to sections, or None if there is nothing."""
