#include "policy/shell/program.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/option.h"

namespace stet::policy {
namespace {

constexpr ShellEffect kR = ShellEffect::kReadOnly;
constexpr ShellEffect kW = ShellEffect::kWrites;
constexpr ShellEffect kP = ShellEffect::kRunsProject;
constexpr ShellEffect kF = ShellEffect::kFetches;
constexpr ShellEffect kU = ShellEffect::kUnknown;
constexpr ShellEffect kC = ShellEffect::kProcess;
constexpr ShellEffect kN = ShellEffect::kNetwork;
constexpr ShellEffect kD = ShellEffect::kDestroys;

// The first row that fits counts. find, sed, awk, tar, git, curl, shells and interpreters have code
// of their own, and what starts other programs is in shell_unwrap.cc.
constexpr std::array kRows = {
    // The shell's own.
    ProgramRow{": true false exit return break continue shift wait times umask ulimit getopts pwd "
               "dirs jobs type hash unset local logout suspend caller",
               "", kR, Operands::kNone, ""},
    ProgramRow{"echo", "", kR, Operands::kNone, ""},
    ProgramRow{"printf", "", kR, Operands::kNone, "-v:u"},
    ProgramRow{"set", "", kR, Operands::kNone, ""},
    ProgramRow{"cd pushd popd", "", kR, Operands::kRead, ""},
    ProgramRow{"test [", "", kR, Operands::kRead, "-v:u -R:u"},
    ProgramRow{"read", "", kR, Operands::kNone, ""},
    ProgramRow{"export declare typeset readonly", "", kR, Operands::kNone, "-n:u"},
    ProgramRow{"fg bg disown", "", kC, Operands::kNone, ""},

    // Reading files.
    ProgramRow{"cat tac nl head tail wc cut tr paste join comm fold fmt expand unexpand rev column "
               "od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum "
               "cksum sum base32 base64 cmp diff diff3 colordiff stat readlink realpath "
               "basename dirname nm objdump readelf size cloc tokei scc wdiff zcat bzcat xzcat "
               "zstdcat lz4cat look pr numfmt getfacl lsattr namei",
               "", kR, Operands::kRead, ""},
    ProgramRow{"file", "", kR, Operands::kRead, "-C:u --compile:u -f:r -m:r"},
    ProgramRow{"ls dir vdir exa eza lsd", "", kR, Operands::kRead,
               "-R:t --recursive:t -T:t --tree:t"},
    ProgramRow{"tree", "", kR, Operands::kTree, "-o:w -R:u -L:v -I:v -P:v"},
    ProgramRow{"du", "", kR, Operands::kTree, "-d:v --max-depth:v"},
    ProgramRow{
        "grep egrep fgrep zgrep", "", kR, Operands::kPattern,
        "-r:t -R:t --recursive:t --dereference-recursive:t -f:r --file:r -A:v -B:v -C:v -m:v "
        "--include:v --exclude:v --exclude-dir:v"},
    ProgramRow{"rg", "", kR, Operands::kPattern,
               "--pre:x --pre-glob:v --hostname-bin:x -z:X --search-zip:X -f:r --file:r -g:v "
               "--glob:v -t:v --type:v -T:v -A:v -B:v -C:v -m:v --max-depth:v --ignore-file:r"},
    ProgramRow{"ag", "", kR, Operands::kPattern, "--pager:x -A:v -B:v -C:v"},
    ProgramRow{
        "sort", "", kR, Operands::kRead,
        "-o:w --output:w --compress-program:x -T:v --temporary-directory:v -k:v --key:v -t:v "
        "--field-separator:v -S:v --files0-from:u"},
    ProgramRow{"jq gojq", "", kR, Operands::kPattern, "-f:r --from-file:r -L:v --indent:v"},
    ProgramRow{"yq", "", kR, Operands::kPattern,
               "-i:i --inplace:i --in-place:i -s:u --split-exp:u"},
    ProgramRow{"xxd", "", kR, Operands::kRead, "-r:u -l:v -s:v -c:v -g:v"},
    ProgramRow{"bat batcat", "", kR, Operands::kRead, "--pager:x -r:v --line-range:v -l:v"},
    ProgramRow{"xmllint", "", kR, Operands::kRead, "-o:w --output:w --shell:u"},
    ProgramRow{"iconv", "", kR, Operands::kRead, "-o:w --output:w -f:v -t:v"},
    ProgramRow{"which whereis command-not-found locate", "", kR, Operands::kNone, ""},
    ProgramRow{"date", "", kR, Operands::kNone, "-s:u --set:u -d:v --date:v -f:r --file:r -r:r"},
    ProgramRow{
        "uname arch nproc whoami id groups users who w uptime free df lscpu lsblk lsusb lspci "
        "lsmod tty printenv locale getconf sleep seq yes expr factor bc sw_vers vmstat iostat "
        "ps pgrep pidof pstree lsof ss netstat getent last tput stty cal",
        "", kR, Operands::kNone, ""},
    ProgramRow{"hostname", "", kR, Operands::kNone, "-F:u --file:u -b:u"},
    ProgramRow{"top htop", "", kU, Operands::kNone, ""},

    // Changing files.
    ProgramRow{"touch mkdir", "", kW, Operands::kChange, "-m:v --mode:v -d:v --date:v -t:v -r:r"},
    ProgramRow{"chmod chown chgrp", "", kW, Operands::kPattern, "--reference:r -R:i"},
    ProgramRow{"ln", "", kW, Operands::kLink, "-f:l --force:l -t:w --target-directory:w"},
    ProgramRow{"cp", "", kW, Operands::kTarget,
               "-t:w --target-directory:w -r:t -R:t -a:t --recursive:t --archive:t -S:v"},
    ProgramRow{"mv", "", kW, Operands::kTarget, "-t:w --target-directory:w -S:v"},
    ProgramRow{"install", "", kW, Operands::kTarget, "-m:v -o:v -g:v -t:w --strip-program:x"},
    ProgramRow{"rm rmdir unlink shred srm trash", "", kD, Operands::kLose, ""},
    ProgramRow{"truncate", "", kD, Operands::kLose, "-s:v --size:v -r:r"},
    ProgramRow{"tee", "", kW, Operands::kLose, "-a:i --append:i"},
    ProgramRow{"split csplit", "", kW, Operands::kRead, "--filter:x -l:v -b:v -n:v -C:v"},
    ProgramRow{"patch", "", kW, Operands::kChange, "-p:v -i:r --input:r -d:c --directory:c -o:w"},
    ProgramRow{"dos2unix unix2dos", "", kW, Operands::kChange, ""},
    ProgramRow{"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4", "", kW, Operands::kChange,
               "-c:f -k:f -o:w -f:l --force:l"},
    ProgramRow{"zip", "", kW, Operands::kRead,
               "-m:d --move:d -T:X --test:X --unzip-command:x -d:d"},
    ProgramRow{"unzip", "", kW, Operands::kRead, "-d:c -o:l -x:v"},
    ProgramRow{"mktemp", "", kW, Operands::kNone, ""},
    ProgramRow{"dd", "", kD, Operands::kNone, ""},
    ProgramRow{"mkfs fdisk parted wipefs mkswap swapoff mount umount losetup cryptsetup shutdown "
               "reboot halt poweroff insmod rmmod modprobe iptables nft useradd userdel usermod "
               "passwd chpasswd visudo crontab at batch sysctl setcap chattr",
               "", kD, Operands::kNone, ""},

    // Processes.
    ProgramRow{"kill pkill killall renice fuser", "", kC, Operands::kNone, ""},
    ProgramRow{"systemctl service",
               "status list-units list-unit-files show cat is-active is-enabled", kR,
               Operands::kNone, "-H:x --host:x"},
    ProgramRow{"systemctl service launchctl", "*", kC, Operands::kNone, ""},
    ProgramRow{"journalctl", "", kR, Operands::kNone,
               "--vacuum-size:d --vacuum-time:d --vacuum-files:d --rotate:u -u:v -n:v"},

    // Builds and tests: they run what the project says.
    ProgramRow{
        "make gmake ninja meson bazel bazelisk buck2 scons ant gradle gradlew mvn mvnw sbt "
        "ctest just task rake tox nox pytest py.test rspec phpunit jest vitest mocha ava "
        "playwright cypress nyc c8 karma tap unittest doctest coverage nosetests stack cabal "
        "mix lein zig dune xcodebuild pre-commit lefthook husky turbo nx lerna vite webpack "
        "rollup esbuild parcel gulp grunt tsx ts-node nodemon next nuxt astro remix svelte-kit "
        "ng vue-cli-service storybook hardhat forge truffle invoke fab snakemake dvc waf "
        "bats shellspec behave locust k6 artillery uvicorn gunicorn flask django-admin celery "
        "alembic streamlit jupyter rails rackup puma sidekiq spring air reflex wails tauri "
        "expo metro electron-builder tsup microbundle lint-staged commitlint cmake-build",
        "", kP, Operands::kNone, "-C:c --directory:c -f:r --file:r -j:v"},
    ProgramRow{"cmake", "", kP, Operands::kNone, "-E:U"},
    ProgramRow{"gcc g++ cc c++ clang clang++ cpp ld as ar ranlib strip rustc javac kotlinc scalac "
               "swiftc ghc ocamlfind nasm yasm protoc flex bison gfortran nvcc emcc go-bindata",
               "", kP, Operands::kRead, "-o:w -wrapper:x -fplugin:x"},
    ProgramRow{"tsc", "", kP, Operands::kNone, "--outDir:v -p:v --project:v"},
    ProgramRow{
        "eslint prettier stylelint biome oxlint tslint standard xo rome markdownlint "
        "markdownlint-cli2 htmlhint svgo ruff black isort autopep8 yapf flake8 pylint mypy "
        "pyright basedpyright bandit vulture pydocstyle djlint rubocop rustfmt gofmt goimports "
        "gofumpt golangci-lint staticcheck govulncheck clang-format clang-tidy cppcheck "
        "shellcheck shfmt hadolint yamllint actionlint ktlint detekt swiftlint swiftformat "
        "scalafmt buf sqlfluff taplo dprint codespell typos cspell vale tflint semgrep "
        "clang-format-19 clang-tidy-19 iwyu cargo-fmt dart-format mdformat knip depcheck "
        "madge ts-prune tsd attw publint size-limit bundlewatch",
        "", kP, Operands::kNone, "-o:w --output-file:w"},
    ProgramRow{"cargo", "new init", kW, Operands::kChange, ""},
    ProgramRow{"cargo", "fetch add update install search info vendor generate-lockfile audit", kF,
               Operands::kNone, "--git:v --path:v --root:v"},
    ProgramRow{"cargo", "publish login logout owner yank", kN, Operands::kNone, ""},
    ProgramRow{"cargo", "tree metadata locate-project pkgid version help --version", kR,
               Operands::kNone, "--config:x"},
    ProgramRow{"cargo", "*", kP, Operands::kNone, "--config:x"},
    ProgramRow{"rustup", "show which check toolchain+list target+list component+list", kR,
               Operands::kNone, ""},
    ProgramRow{"rustup", "*", kF, Operands::kNone, ""},
    ProgramRow{"go", "version env list doc help", kR, Operands::kNone,
               "-w:u -u:u -toolexec:x -exec:x -vettool:x"},
    ProgramRow{"go", "get mod+download mod+tidy mod+vendor install mod+graph mod+why mod+verify",
               kF, Operands::kNone, "-toolexec:x -exec:x"},
    ProgramRow{"go", "clean", kW, Operands::kNone, ""},
    ProgramRow{"go", "*", kP, Operands::kNone, "-toolexec:x -exec:x -vettool:x -o:w"},
    ProgramRow{"npm pnpm yarn bun",
               "ls list view info why outdated explain root prefix bin version help ping whoami "
               "--version config+get config+list run doctor licenses",
               kP, Operands::kNone, "--prefix:c -C:c"},
    ProgramRow{"npm pnpm yarn bun",
               "install i ci add update up upgrade dedupe fetch audit rebuild prune import create "
               "init link remove rm uninstall un cache+verify store install-test it",
               kF, Operands::kNone, "--prefix:c -C:c"},
    ProgramRow{"npm pnpm yarn bun",
               "publish unpublish login logout adduser token owner access deprecate dist-tag team "
               "profile star hook org",
               kN, Operands::kNone, ""},
    ProgramRow{"npm pnpm yarn bun", "config+set config+delete set cache+clean", kU, Operands::kNone,
               ""},
    ProgramRow{"npm pnpm yarn bun", "*", kP, Operands::kNone, "--prefix:c -C:c"},
    ProgramRow{"corepack nvm fnm volta asdf mise pyenv rbenv sdk", "", kU, Operands::kNone, ""},
    ProgramRow{"pip pip3 pipx", "list show freeze check help config+list --version debug inspect",
               kR, Operands::kNone, ""},
    ProgramRow{"pip pip3 pipx", "install download wheel index search", kF, Operands::kRead,
               "-r:r -c:r -e:r -i:v --index-url:v -t:v --target:v"},
    ProgramRow{"uv",
               "sync lock add remove pip+install pip+sync pip+compile pip+list pip+freeze "
               "pip+show pip+check tool+install python+install python+list tree venv init "
               "version build cache+dir self+version",
               kF, Operands::kNone, ""},
    ProgramRow{"uv poetry pdm hatch rye pipenv conda mamba", "publish", kN, Operands::kNone, ""},
    ProgramRow{
        "poetry pdm hatch rye pipenv conda mamba bundle gem composer mix rebar3 pub dart flutter "
        "cocoapods pod carthage swift brew nuget dotnet luarocks cpan cpanm opam",
        "install add update lock sync show list info check outdated restore search env "
        "--version require get remove upgrade resolve fetch deps deps.get pub+get tree",
        kF, Operands::kNone, ""},
    ProgramRow{"gem cocoapods pod nuget dotnet", "push nuget+push trunk+push", kN, Operands::kNone,
               ""},
    ProgramRow{"poetry pdm hatch rye pipenv bundle composer dotnet swift flutter dart", "*", kP,
               Operands::kNone, ""},
    ProgramRow{"virtualenv", "", kW, Operands::kChange, ""},
    ProgramRow{
        "tox-uv pyinstaller twine-check sphinx-build mkdocs mdbook hugo jekyll doxygen typedoc "
        "jsdoc pdoc asciidoctor pandoc graphviz dot plantuml latexmk pdflatex",
        "", kP, Operands::kRead, "-o:w --output:w --filter:x -shell-escape:X"},
    ProgramRow{"twine", "upload", kN, Operands::kNone, ""},

    // Data.
    ProgramRow{"prisma drizzle-kit knex sequelize typeorm", "", kP, Operands::kNone, ""},

    // Containers and machines elsewhere.
    ProgramRow{"docker podman nerdctl",
               "ps images logs inspect version info top stats port diff history events search "
               "image+ls image+inspect container+ls container+inspect network+ls network+inspect "
               "volume+ls volume+inspect compose+ps compose+logs compose+config compose+images "
               "compose+top compose+version compose+ls context+ls system+df buildx+ls",
               kR, Operands::kNone, "--output:v"},
    ProgramRow{"docker podman nerdctl",
               "build pull start stop restart compose+up compose+build compose+pull compose+start "
               "compose+stop compose+restart compose+run compose+exec buildx+build image+build "
               "image+pull tag create",
               kP, Operands::kNone, "-v:U --volume:U --mount:U --privileged:X --push:n"},
    ProgramRow{"docker podman nerdctl", "compose+down", kP, Operands::kNone, "-v:d --volumes:d"},
    ProgramRow{"docker podman nerdctl", "run exec", kU, Operands::kNone,
               "--privileged:X -v:x --volume:x --mount:x --pid:x --cap-add:x --device:x --net:v "
               "--network:v --name:v -e:v --env:v -p:v --publish:v -w:v --workdir:v -u:v --user:v"},
    ProgramRow{"docker podman nerdctl", "push login", kN, Operands::kNone, ""},
    ProgramRow{"docker podman nerdctl", "*", kD, Operands::kNone, ""},
    ProgramRow{"docker-compose", "ps logs config images top version", kR, Operands::kNone, ""},
    ProgramRow{"docker-compose", "up build pull start stop restart run exec", kP, Operands::kNone,
               ""},
    ProgramRow{"docker-compose", "down", kP, Operands::kNone, "-v:d --volumes:d"},
    ProgramRow{"docker-compose", "*", kD, Operands::kNone, ""},
    ProgramRow{"kubectl oc k9s",
               "get describe logs top version explain api-resources api-versions cluster-info "
               "config+view config+get-contexts config+current-context auth+can-i diff events",
               kF, Operands::kNone, "--kubeconfig:r"},
    ProgramRow{
        "kubectl oc helm terraform tofu pulumi aws gcloud az doctl heroku flyctl fly vercel "
        "netlify wrangler serverless sls cdk sam eb firebase supabase ansible-playbook ansible",
        "version validate fmt plan show output providers graph list status lint template "
        "history search get ls synth sts+get-caller-identity config+list s3+ls",
        kF, Operands::kNone, "-o:v --output:v"},
    ProgramRow{
        "kubectl oc helm terraform tofu pulumi aws gcloud az doctl heroku flyctl fly vercel "
        "netlify wrangler serverless sls cdk sam eb firebase supabase ansible-playbook ansible",
        "*", kN, Operands::kNone, ""},
    ProgramRow{
        "gh glab",
        "pr+list pr+view pr+status pr+diff pr+checks pr+checkout issue+list issue+view "
        "issue+status run+list run+view run+watch run+download repo+view repo+list repo+clone "
        "release+list release+view release+download workflow+list workflow+view auth+status "
        "status search+prs search+issues search+repos search+code label+list gist+list "
        "gist+view mr+list mr+view ci+status --version version cache+list variable+list",
        kF, Operands::kNone, "-w:f --web:u"},
    ProgramRow{"gh glab", "api", kF, Operands::kNone,
               "-X:N --method:N -f:N -F:N --field:N --raw-field:N --input:N -q:v --jq:v -H:v"},
    ProgramRow{"gh glab", "*", kN, Operands::kNone, ""},
    ProgramRow{"ping ping6 traceroute dig nslookup host whois", "", kF, Operands::kNone, ""},
    ProgramRow{
        "ssh scp sftp ftp lftp telnet nc ncat netcat socat mail mailx sendmail mutt rclone "
        "s3cmd gsutil mosh aria2c openssl-s_client ssh-copy-id ssh-keyscan ngrok cloudflared",
        "", kN, Operands::kNone, ""},

    // Other tools that only look, when asked so.
    ProgramRow{"direnv", "status version", kR, Operands::kNone, ""},
    ProgramRow{"apt apt-get apt-cache dpkg dpkg-query dnf yum apk pacman brew snap",
               "list show search policy info --version -l -L -S -s -W config outdated deps", kR,
               Operands::kNone, ""},
    ProgramRow{"gdb lldb valgrind perf heaptrack rr ltrace hyperfine", "", kP, Operands::kNone, ""},
    ProgramRow{"openssl gpg age sops", "", kU, Operands::kNone, "-out:w -o:w --output:w"},
    ProgramRow{"code subl open xdg-open", "", kU, Operands::kNone, ""},
    ProgramRow{"clear reset", "", kR, Operands::kNone, ""},
};

struct Globals {
  std::string_view names;
  std::string_view options;
};

constexpr std::array kGlobals = {
    Globals{"npm pnpm yarn bun",
            "--silent -s --prefix:c -C:c --dir:c --cwd:c --version -v -w:v --workspace:v "
            "--workspaces -r --recursive --filter:v -F:v --loglevel:v -g --global --no-color "
            "--if-present --workspace-root --quiet -q --ignore-scripts --yes -y --help -h"},
    Globals{"cargo",
            "--quiet -q -v --verbose --locked --offline --frozen --color:v --version -V "
            "--list --help -h -Z:v --manifest-path:r"},
    Globals{"go", "-C:c"},
    Globals{"docker podman nerdctl", "-D --debug --context:v -c:v --version -v --help"},
    Globals{"kubectl oc",
            "-n:v --namespace:v --context:v --kubeconfig:r -A --all-namespaces --cluster:v"},
    Globals{"gh glab", "-R:v --repo:v --version --help"},
    Globals{"pip pip3", "-q --quiet -v --verbose --disable-pip-version-check --version -V"},
    Globals{"systemctl service", "--user --no-pager -q --system --type:v -a --all"},
    Globals{"uv poetry pdm",
            "-q --quiet -v --verbose --directory:c -C:c --no-interaction -n --version -V"},
    Globals{"terraform tofu", "-chdir:c -version --version"},
    Globals{"dpkg apt brew dpkg-query apt-get apt-cache", "-l -L -S -s -W --version -q -y"},
    Globals{"docker-compose", "-f:r --file:r -p:v --version"},
    Globals{"aws gcloud az", "--profile:v --region:v --output:v --project:v"},
};

/// "stash+list" stands for two words.
bool HasSubcommand(std::string_view list, std::string_view first, std::string_view second) {
  return HasWord(list, first) ||
         (!second.empty() && HasWord(list, fmt::format("{}+{}", first, second)));
}

}  // namespace

std::span<const ProgramRow> ProgramRows() { return kRows; }

std::string_view GlobalOptions(std::string_view program) {
  const auto* found = std::ranges::find_if(
      kGlobals, [&](const Globals& one) { return HasWord(one.names, program); });
  return found == kGlobals.end() ? "--version --help -h" : found->options;
}

const ProgramRow* FindProgram(std::string_view program, std::string_view first,
                              std::string_view second) {
  const auto* found = std::ranges::find_if(kRows, [&](const ProgramRow& row) {
    return HasWord(row.names, program) &&
           (row.subcommands.empty() || row.subcommands == "*" ||
            (!first.empty() && HasSubcommand(row.subcommands, first, second)));
  });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace stet::policy
