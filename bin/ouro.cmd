@echo off
rem Starts the sources of this checkout on Windows, as bin/ouro does on other systems.
node "%~dp0bootstrap.mjs" start %*
