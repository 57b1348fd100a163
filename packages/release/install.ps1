# Installs ouro for the current user, or another version of it: install.ps1 [version]
#
#   OURO_RELEASE_URL   address of the releases
#   OURO_INSTALL_DIR   folder of the program (default: %LOCALAPPDATA%\ouro)
#   OURO_NO_PATH       set to 1 to leave the PATH of the user as it is
param([string] $Version = '')

# Everything is in functions, so half a script does nothing, and `iex` changes no preference of the shell that runs it.
function Install-Ouro {
  $ErrorActionPreference = 'Stop'
  # The progress bar of Windows PowerShell makes downloads ten times slower.
  $ProgressPreference = 'SilentlyContinue'
  $releases = if ($env:OURO_RELEASE_URL) { $env:OURO_RELEASE_URL } else { '@RELEASES@' }
  $releases = $releases.TrimEnd('/')
  if ($releases.StartsWith('@')) {
    throw 'This copy belongs to no release. Set OURO_RELEASE_URL to the address of the releases.'
  }
  if ($releases -notmatch '^(https://|http://(127\.0\.0\.1|localhost):[0-9]+(/|$))') { throw "$releases is not an https address." }
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

  $dir = if ($env:OURO_INSTALL_DIR) { $env:OURO_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'ouro' }
  $target = Get-Target
  $folder = if ($Version) { "$releases/download/v$($Version.TrimStart('v'))" } else { "$releases/latest/download" }
  # Beside the program, because a rename is atomic within a volume only.
  $temporary = Join-Path $dir ".install.$PID"
  New-Item -ItemType Directory -Force -Path $temporary | Out-Null
  try {
    $sums = Join-Path $temporary 'SHA256SUMS'
    Invoke-WebRequest -UseBasicParsing -Uri "$folder/SHA256SUMS" -OutFile $sums
    $pattern = "^(?<sum>[0-9a-f]{64}) [ *](?<name>ouro-(?<version>[0-9][0-9A-Za-z.+-]*)-$target\.tar\.gz)$"
    $found = Get-Content $sums | Where-Object { $_ -match $pattern } | Select-Object -First 1
    if (-not $found) { throw "$folder has no release for $target." }
    $null = $found -match $pattern
    $expected = $Matches['sum']
    $name = $Matches['name']
    $number = $Matches['version']
    $program = Join-Path $dir 'ouro.exe'
    if ($Version) {
      $wanted = $Version.TrimStart('v')
      if ($number -ne $wanted) { throw "$folder is release $number, not $wanted. Nothing was installed." }
    }
    elseif (Test-Path $program) {
      $installed = & $program --version
      if ([version] ($installed -replace '[-+].*') -gt [version] ($number -replace '[-+].*')) {
        throw "ouro $installed is installed, and the newest release is $number. To install the older one, name it: install.ps1 $number"
      }
    }

    Write-Output "Downloading ouro $number for $target ..."
    $archive = Join-Path $temporary $name
    Invoke-WebRequest -UseBasicParsing -Uri "$releases/download/v$number/$name" -OutFile $archive
    $actual = (Get-FileHash -Algorithm SHA256 -Path $archive).Hash.ToLowerInvariant()
    if ($actual -ne $expected) {
      throw "The checksum of $name is $actual, but the release lists $expected. Nothing was installed."
    }
    $unpacked = Join-Path $temporary 'unpacked'
    New-Item -ItemType Directory -Path $unpacked | Out-Null
    # The tar of Windows: one of Git would take the drive for a host.
    & (Join-Path $env:SystemRoot 'System32\tar.exe') -xzf $archive -C $unpacked
    if ($LASTEXITCODE -ne 0) { throw "$name could not be unpacked." }
    $printed = & (Join-Path $unpacked 'ouro.exe') --version
    if ($printed -ne $number) { throw "ouro $number does not run on this machine." }
    Move-Files $unpacked $dir
  }
  finally {
    Remove-Item -Recurse -Force -Path $temporary -ErrorAction SilentlyContinue
  }
  Write-Output "ouro $number is installed: $(Join-Path $dir 'ouro.exe')"
  if ($env:OURO_NO_PATH -ne '1') { Add-ToPath $dir }
}

function Get-Target {
  # A 32-bit shell names its own architecture in the first variable and the one of the system in the second.
  $machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
  switch ($machine) {
    'AMD64' { 'win32-x64' }
    'ARM64' { 'win32-arm64' }
    default { throw "There is no executable for $machine." }
  }
}

# Puts the files in place; the program last, and the one before is kept for `ouro update --back`.
function Move-Files([string] $From, [string] $To) {
  foreach ($name in 'LICENSE', 'THIRD-PARTY.txt', 'rg.exe') {
    Move-Item -Force -Path (Join-Path $From $name) -Destination (Join-Path $To $name)
  }
  $program = Join-Path $To 'ouro.exe'
  if (Test-Path $program) {
    # Windows does not replace a running program, but renames it.
    $previous = Join-Path $To 'ouro.previous.exe'
    Remove-Item -Force -Path $previous -ErrorAction SilentlyContinue
    Move-Item -Path $program -Destination $previous
  }
  Move-Item -Path (Join-Path $From 'ouro.exe') -Destination $program
}

# Changes the value in the registry: [Environment] would replace entries such as %USERPROFILE%\bin by what they stand for.
function Add-ToPath([string] $Folder) {
  $key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)
  try {
    $path = $key.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
    $entries = @("$path".Split(';') | Where-Object { $_ })
    $folders = @($entries | ForEach-Object { [Environment]::ExpandEnvironmentVariables($_) })
    if ($folders -contains $Folder) { return }
    $key.SetValue('Path', (($entries + $Folder) -join ';'), [Microsoft.Win32.RegistryValueKind]::ExpandString)
  }
  finally {
    $key.Close()
  }
  # Setting a variable tells running programs to read the environment again; an empty one is deleted.
  [Environment]::SetEnvironmentVariable('OURO_PATH_CHANGED', '1', 'User')
  [Environment]::SetEnvironmentVariable('OURO_PATH_CHANGED', '', 'User')
  Write-Output "$Folder was added to your PATH. Open a new terminal to use ouro."
}

Install-Ouro
