{
  description = "ouro, an interactive coding assistant for the terminal";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      archives = {
        x86_64-linux = {
          url = "@ARCHIVE:linux-x64@";
          sha256 = "@SHA256:linux-x64@";
        };
        aarch64-linux = {
          url = "@ARCHIVE:linux-arm64@";
          sha256 = "@SHA256:linux-arm64@";
        };
        x86_64-darwin = {
          url = "@ARCHIVE:darwin-x64@";
          sha256 = "@SHA256:darwin-x64@";
        };
        aarch64-darwin = {
          url = "@ARCHIVE:darwin-arm64@";
          sha256 = "@SHA256:darwin-arm64@";
        };
      };
      build =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          lib = nixpkgs.lib;
        in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "ouro";
          version = "@VERSION@";
          src = pkgs.fetchurl archives.${system};
          sourceRoot = ".";
          nativeBuildInputs = lib.optional pkgs.stdenv.isLinux pkgs.patchelf;
          # The program follows the runtime in the executable, so nothing but the loader may be changed.
          dontStrip = true;
          dontPatchELF = true;
          installPhase = ''
            install -Dm755 ouro $out/libexec/ouro
            install -Dm755 rg $out/libexec/rg
            install -Dm644 -t $out/share/doc/ouro LICENSE THIRD-PARTY.txt
            mkdir $out/bin
            ln -s $out/libexec/ouro $out/bin/ouro
          '';
          postFixup = lib.optionalString pkgs.stdenv.isLinux ''
            patchelf --set-interpreter ${pkgs.stdenv.cc.bintools.dynamicLinker} $out/libexec/ouro
          '';
          meta = {
            description = "Interactive coding assistant for the terminal";
            homepage = "@REPOSITORY@";
            license = lib.licenses.mit;
            mainProgram = "ouro";
            platforms = builtins.attrNames archives;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: _: { default = build system; }) archives;
    };
}
