class Ouro < Formula
  desc "Interactive coding assistant for the terminal"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@ARCHIVE:darwin-arm64@"
      sha256 "@SHA256:darwin-arm64@"
    end
    on_intel do
      url "@ARCHIVE:darwin-x64@"
      sha256 "@SHA256:darwin-x64@"
    end
  end

  on_linux do
    on_arm do
      url "@ARCHIVE:linux-arm64@"
      sha256 "@SHA256:linux-arm64@"
    end
    on_intel do
      url "@ARCHIVE:linux-x64@"
      sha256 "@SHA256:linux-x64@"
    end
  end

  def install
    # ouro looks for the rg beside it; only ouro belongs into the PATH.
    libexec.install "ouro", "rg"
    bin.install_symlink libexec/"ouro"
    prefix.install "LICENSE", "THIRD-PARTY.txt"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/ouro --version").strip
  end
end
