"""A disk under a program of whatever language: it fails on demand, and forgets what was not synced when power goes.

`model` is the disk itself, in memory; `faults` counts the steps that change it and decides what the armed one meets;
`server` mounts both where the program keeps its files (FUSE); `client` starts that server and steers it.
"""
