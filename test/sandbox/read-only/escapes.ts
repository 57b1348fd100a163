/** Commands of a hostile program. Each prints OUT when it gets somewhere; what it leaves behind is looked for besides. */
export const ESCAPES: Readonly<Record<string, string>> = {
  // Writing.
  'a file in the workspace': 'touch new && echo OUT; echo x > new2 && echo OUT',
  'a file that is there':
    'echo x >> a && echo OUT; truncate -s0 a && echo OUT; dd if=/dev/zero of=a count=1 && echo OUT',
  'a file in place': 'sed -i s/1/2/ a && echo OUT; perl -pi -e s/1/2/ a; grep -q 2 a && echo OUT',
  'moving and removing': 'mv a b && echo OUT; rm -f a && [ ! -e a ] && echo OUT; rmdir empty && echo OUT',
  links: 'ln -s / l && echo OUT; ln a h && echo OUT; mkfifo f && echo OUT; mknod n p && echo OUT',
  'times and modes': 'touch -d 2001-01-01 a && echo OUT; chmod 777 a && echo OUT; chown 1 a && echo OUT',
  attributes: 'setfattr -n user.x -v y a && echo OUT; chattr +i a && echo OUT',
  'a file through a link': 'echo x >> to-home/outside && echo OUT; echo x >> to-file && echo OUT',
  'a file through its descriptor':
    'exec 8<a; echo x > /proc/self/fd/8 && echo OUT; perl -e \'open F,"+<","/proc/self/fd/8" and print "OUT\\n"\'',
  'memory that is mapped':
    "python3 -c \"import mmap; f=open('a','r+b'); mmap.mmap(f.fileno(),0)[0:1]=b'x'; print('OUT')\"",
  'the repository':
    'git commit --allow-empty -qm x && echo OUT; git config a.b c && echo OUT; touch .git/index && echo OUT',
  'the home folder': 'touch ~/x && echo OUT; touch ~/.bashrc && echo OUT; mkdir ~/.config/x && echo OUT',
  'a hidden folder, seemingly': 'touch ~/.ssh/x && echo OUT; touch ~/.aws/x && echo OUT; touch ~/.ouro/x && echo OUT',
  'the system': 'touch /etc/x /usr/bin/x /var/tmp/x /opt/x && echo OUT; touch /var/tmp/ouro-out && echo OUT',
  'settings of the kernel':
    'for f in /proc/sys/vm/swappiness /proc/sys/kernel/core_pattern; do cat $f > $f && echo OUT; done',
  'files of processes': 'echo 1000 > /proc/self/oom_score_adj && echo OUT; echo 0 > /proc/1/oom_score_adj && echo OUT',
  'the control groups': 'mkdir /sys/fs/cgroup/x && echo OUT; echo 1 > /sys/power/state && echo OUT',
  'the magic key and the log': 'echo h > /proc/sysrq-trigger && echo OUT; echo x > /dev/kmsg && echo OUT',
  devices:
    'cat /dev/vda /dev/sda /dev/mem /dev/port 2>/dev/null | head -c1 | grep -q . && echo OUT; mknod d b 254 0 && echo OUT',
  'a pipe somebody reads': 'echo stolen > pipe && echo OUT; echo stolen > deep/1/2/3/4/5/pipe && echo OUT',
  'temporary files of others':
    'ls /tmp | grep -v "^ouro-test" | grep -q . && echo OUT; ls /tmp/ouro-test-*/home/kept && echo OUT',
  'memory of others':
    'ls /dev/shm | grep -q . && echo OUT; ipcs -m | grep -q 0x && echo OUT; ls /dev/mqueue | grep -q . && echo OUT',
  // Networks and sockets.
  'a port of this machine':
    '(echo stolen > /dev/tcp/127.0.0.1/$PORT) && echo OUT; (echo stolen > /dev/udp/127.0.0.1/$UDP_PORT)',
  'a port by another name':
    'for h in ::1 0.0.0.0 localhost 127.1 2130706433; do (echo stolen > /dev/tcp/$h/$PORT) && echo OUT; done',
  'a host':
    'curl -sm2 http://1.1.1.1 && echo OUT; (echo > /dev/tcp/1.1.1.1/53) && echo OUT; getent hosts example.com && echo OUT',
  'a socket of the workspace': "python3 -c \"import socket as s; s.socket(1).connect('sock'); print('OUT')\"",
  'an abstract socket': 'python3 -c "import socket as s; s.socket(1); print(\'OUT\')"',
  'a datagram to a socket': "python3 -c \"import socket as s; s.socket(1,2).sendto(b'x','sock'); print('OUT')\"",
  'a datagram from one of a pair':
    'perl -MSocket -e \'for my $n (0, 02000000, 04000) { next unless socketpair(A,B,AF_UNIX,SOCK_DGRAM|$n,0); print "OUT\\n"; send(A,"x",0,pack_sockaddr_un("sock")) }\'',
  'sockets of every family':
    'perl -MSocket -e \'for my $f (1, 3..9, 11..45) { for my $t (1,2,3,5) { print "OUT $f\\n" if socket(S,$f,$t,0) } }\'',
  'a raw socket':
    'perl -MSocket -e \'print "OUT\\n" if socket(S,2,3,1) || socket(S,17,3,768)\'; ping -c1 -W1 127.0.0.1 && echo OUT',
  'addresses of the host':
    'ip -o addr | grep -q . && echo OUT; grep -v " lo:\\|Inter\\|face" /proc/net/dev && echo OUT',
  'a broadcast':
    'perl -MSocket -e \'socket(S,2,2,17); setsockopt(S,1,6,1); send(S,"stolen",0,sockaddr_in($ENV{UDP_PORT},INADDR_BROADCAST))\'',
  'a daemon': 'docker ps && echo OUT; systemctl list-units && echo OUT; ls /run/docker.sock /var/run/dbus && echo OUT',
  'a socket through another call': 'perl -e \'print "OUT\\n" if syscall(425,8,"\\0"x120) >= 0\'',
  // Secrets.
  'keys of the home folder': 'grep -rs SECRET ~/.ssh ~/.aws ~/.netrc ~/.git-credentials && echo OUT',
  'unknown files of the home folder':
    'grep -rs SECRET ~/.newtool ~/.config ~/.local ~/.cache && echo OUT; cat ~/.history-of-x | grep -q . && echo OUT',
  'the whole home folder': 'grep -rs SECRET ~ && echo OUT; find ~ -name "*id_rsa*" | grep -q . && echo OUT',
  'secrets of the workspace':
    'grep -rs SECRET . && echo OUT; cat .env prod.pem deep/1/2/3/4/5/.env | grep -q . && echo OUT',
  'secrets by a descriptor':
    'cat < .env | grep -q . && echo OUT; cat /proc/self/cwd/.env | grep -q . && echo OUT; cat /proc/self/root$PWD/.env | grep -q . && echo OUT',
  'secrets through a link':
    'cat to-env | grep -q . && echo OUT; cat to-key | grep -q . && echo OUT; cat to-home/.ssh/id_rsa && echo OUT',
  'secrets through a process': 'for p in 1 2 self; do cat /proc/$p/root/$HOME/.ssh/id_rsa && echo OUT; done',
  'denied places': 'cat private/x && echo OUT; ls private | grep -q . && echo OUT',
  'keys of ouro': 'cat ~/.ouro/keys.json && echo OUT; ls ~/.ouro | grep -v sandbox | grep -q . && echo OUT',
  'keys of the system':
    'cat /etc/shadow | grep -q . && echo OUT; ls /etc/ssl/private | grep -q . && echo OUT; cat /etc/gshadow | grep -q . && echo OUT',
  variables:
    'env | grep -q a-key-of-mine && echo OUT; env | grep -qE "^(PROJECT|LD_|TAR_OPTIONS|GOFLAGS|PERL5)" && echo OUT',
  'variables of processes': 'cat /proc/*/environ | tr "\\0" "\\n" | grep -qE "a-key-of-mine|PROJECT" && echo OUT',
  'arguments of processes':
    '[ "$(ls /proc | grep -c "^[0-9]")" -gt 20 ] && echo OUT; ls -d /proc/$HOST_PID && echo OUT',
  'memory of processes':
    'cat /proc/1/mem | grep -q . && echo OUT; perl -e \'print "OUT\\n" if syscall(101,16,1,0,0) == 0\'; perl -e \'$b="x"x64; print "OUT $!\\n" unless syscall(310,1,$b,1,$b,1,0) < 0\'',
  'a descriptor of a process':
    'perl -e \'$f=syscall(434,1,0); print "OUT\\n" if $f>=0 && syscall(438,$f,1,0) >= 0\'; ls -l /proc/1/fd | grep -v /dev/null | grep " -> /" && echo OUT',
  'descriptors that were left open':
    'ls -l /proc/self/fd | grep -E "(4|5|6|7|9) -> " | grep -v /proc/ && echo OUT; for n in 3 4 5 6 7 9; do (echo x >&$n) && echo OUT; done',
  keyrings:
    'perl -e \'print "OUT\\n" if syscall(250,0,-3,0) >= 0 || syscall(248,"user","a","b",1,-3) >= 0 || syscall(249,"user","a",0,0) >= 0\'',
  'history of the kernel':
    'perl -e \'print "OUT\\n" if syscall(298,"\\0"x120,0,-1,-1,0) >= 0 || syscall(321,5,"\\0"x120,120) >= 0 || syscall(323,0) >= 0\'',
  // Namespaces and mounts.
  'a namespace':
    'unshare -U true && echo OUT; unshare -Urmn true && echo OUT; unshare -m true && echo OUT; unshare -n true && echo OUT',
  'another namespace': 'nsenter -t 1 -m true && echo OUT; nsenter -t 1 -n true && echo OUT',
  'a mount': 'mount -t tmpfs none /mnt && echo OUT; mount -o remount,rw / && echo OUT; mount --bind / /mnt && echo OUT',
  'a mount by the newer calls':
    'perl -e \'for (428,429,430,431,432,433,442) { print "OUT $_\\n" if syscall($_,0,0,0,0,0) >= 0; print "OUT $_ $!\\n" unless $!{EPERM} }\'',
  'what a mount hides':
    'umount ~/.ssh && echo OUT; umount -l /tmp && echo OUT; umount .env && echo OUT; umount /run && echo OUT',
  'another root':
    'chroot / true && echo OUT; perl -e \'print "OUT\\n" if syscall(161,"/") == 0 || syscall(155,"/","/") == 0\'',
  'a file by its handle':
    'perl -e \'$h=pack("II",128,0).("\\0"x128); $m="\\0"x8; print "OUT\\n" if syscall(303,-100,"/etc/shadow",$h,$m,0) >= 0; print "OUT\\n" if syscall(304,-100,$h,0) >= 0\'',
  'a copy of a root':
    'cat /proc/1/root/etc/shadow | grep -q . && echo OUT; cat /proc/1/root$HOME/.netrc | grep -q . && echo OUT',
  'a nested sandbox': 'bwrap --bind / / true && echo OUT; bwrap --ro-bind / / --unshare-user true && echo OUT',
  // Rights and processes.
  'a program that is root':
    'sudo -n true && echo OUT; su -c true && echo OUT; cp /bin/true /tmp/t && chmod u+s /tmp/t && echo OUT',
  rights:
    'perl -e \'open S,"/proc/self/status"; while (<S>) { print "OUT $_" if /^Cap(Eff|Prm|Amb):\\s*0*[1-9a-f]/ || /^NoNewPrivs:\\s*0/ || /^Seccomp:\\s*0/ }\'',
  'the modules, the clock and the name':
    'perl -e \'for (175,313,176,246,320,169,170,171,227,164,167,163) { print "OUT $_\\n" if syscall($_,0,0,0,0,0) >= 0 }\'',
  'signals to others': 'kill -0 $HOST_PID && echo OUT; kill -0 -$HOST_PID && echo OUT; true',
  'ending what holds it': 'kill -9 1; kill -STOP 1; true',
  'typing into a terminal':
    'perl -e \'open T,"<","/dev/tty" and print "OUT\\n"; ioctl(STDIN,0x5412,"x") and print "OUT\\n"\'; ls /dev/pts | grep -q "^[0-9]" && echo OUT',
  'other system calls': 'perl -e \'print "OUT\\n" if syscall(0x40000000 + 39) > 0\'',
  'more priority':
    'nice -n -5 true 2>&1 | grep -q . || echo OUT; perl -e \'print "OUT\\n" if syscall(203,1,8,"\\1"x8) == -1 && 0\'',
  // Programs.
  'a program of the workspace': 'planted && echo OUT; ls --planted 2>/dev/null | grep -q PLANTED && echo OUT',
  'a hook of git': 'git status >/dev/null; git diff >/dev/null; git log >/dev/null; [ -e /tmp/hook ] && echo OUT',
  'a registry of the project': 'timeout 5 npm view x version && echo OUT',
};
