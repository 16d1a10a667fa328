#include "policy/shell/program.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/option.h"

namespace stet::policy {
namespace {

constexpr ShellEffect kW = ShellEffect::kWrites;
constexpr ShellEffect kP = ShellEffect::kRunsProject;
constexpr ShellEffect kF = ShellEffect::kFetches;
constexpr ShellEffect kU = ShellEffect::kUnknown;
constexpr ShellEffect kC = ShellEffect::kProcess;
constexpr ShellEffect kN = ShellEffect::kNetwork;
constexpr ShellEffect kD = ShellEffect::kDestroys;

// The first row that fits counts. Programs that only read are in readers.cc; find, sed, awk, tar,
// git, curl, shells and interpreters have code of their own, and what starts other programs is in
// unwrap.cc.
constexpr std::array kRows = {
    // Changing files.
    ProgramRow{"touch mkdir", "", kW, Operands::kChange,
               "-acfhpvZ -mdt:v -r:r --mode:v --date:v --parents --verbose --no-create "
               "--no-dereference --time:v --reference:r"},
    ProgramRow{"chmod chown chgrp", "", kW, Operands::kPattern,
               "-cfvhHLP -rwxXstugo:P -R:i --recursive:i --reference:r --verbose --changes --quiet "
               "--silent --no-dereference --preserve-root"},
    ProgramRow{"ln", "", kW, Operands::kLink,
               "-snvTrLPibd -f:l --force:l --symbolic --relative --verbose --no-dereference "
               "--no-target-directory --interactive -S:v -t:w --target-directory:w"},
    ProgramRow{"cp", "", kW, Operands::kTarget,
               "-t:w --target-directory:w -r:t -R:t -a:t --recursive:t --archive:t -S:v"},
    ProgramRow{"mv", "", kW, Operands::kTarget, "-t:w --target-directory:w -S:v"},
    ProgramRow{"install", "", kW, Operands::kTarget, "-m:v -o:v -g:v -t:w --strip-program:x"},
    ProgramRow{"rm rmdir unlink shred srm trash", "", kD, Operands::kLose, ""},
    ProgramRow{"truncate", "", kD, Operands::kLose, "-s:v --size:v -r:r"},
    ProgramRow{"tee", "", kW, Operands::kLose, "-a:i --append:i"},
    ProgramRow{"split csplit", "", kW, Operands::kRead,
               "--filter:x -labCntf:v -dxeuksz --lines:v --bytes:v --number:v --suffix-length:v "
               "--numeric-suffixes:a --additional-suffix:v --prefix:v --digits:v --verbose"},
    ProgramRow{"patch", "", kW, Operands::kChange,
               "-pFzBDgrVY:v -bcEflNnRstTuZ -i:r --input:r -d:c --directory:c -o:w --output:w "
               "--strip:v --reverse --forward --batch --dry-run --backup --fuzz:v --quiet --silent "
               "--force --unified --verbose -e:U --ed:U"},
    ProgramRow{"dos2unix unix2dos", "", kW, Operands::kChange, "-qkn --quiet --keepdate"},
    ProgramRow{"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4", "", kW, Operands::kChange,
               "-0123456789cdklLnNqrtTvze -S:v -o:w -f:l --force:l --stdout --decompress --keep "
               "--list --test --verbose --quiet --best --fast --recursive --rm:d --threads:v"},
    ProgramRow{"zip", "", kW, Operands::kRead,
               "-0123456789eFgjlqruvXyD -ixnt:v -m:d --move:d -T:X --test:X --unzip-command:x -d:d "
               "-b:c -O:w --out:w"},
    ProgramRow{"unzip", "", kW, Operands::kRead, "-aCfjLlnpqtuvzZ -d:c -o:l -x:v -P:v"},
    ProgramRow{"mktemp", "", kW, Operands::kNone,
               "-dqtu -p:c --directory --quiet --dry-run --tmpdir:a --suffix:v"},
    ProgramRow{"dd", "", kD, Operands::kNone, ""},
    ProgramRow{"mkfs fdisk parted wipefs mkswap swapoff mount umount losetup cryptsetup shutdown "
               "reboot halt poweroff insmod rmmod modprobe iptables nft useradd userdel usermod "
               "passwd chpasswd visudo crontab at batch sysctl setcap chattr",
               "", kD, Operands::kNone, ""},

    // Processes.
    ProgramRow{"kill pkill killall renice fuser", "", kC, Operands::kNone, ""},
    ProgramRow{"systemctl service launchctl", "*", kC, Operands::kNone, ""},

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
               "", kP, Operands::kRead, "-o:w"},
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
    ProgramRow{"cargo", "new init", kW, Operands::kChange,
               "--lib --bin --name:v --edition:v --vcs:v -q --quiet -v --verbose"},
    ProgramRow{"cargo", "fetch add update install search info vendor generate-lockfile audit", kF,
               Operands::kNone, "--git:v --path:v --root:v"},
    ProgramRow{"cargo", "publish login logout owner yank", kN, Operands::kNone, ""},
    ProgramRow{"cargo", "*", kP, Operands::kNone, "--config:x"},
    ProgramRow{"rustup", "*", kF, Operands::kNone, ""},
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
    ProgramRow{"virtualenv", "", kP, Operands::kChange, ""},
    ProgramRow{
        "tox-uv pyinstaller twine-check sphinx-build mkdocs mdbook hugo jekyll doxygen typedoc "
        "jsdoc pdoc asciidoctor pandoc graphviz dot plantuml latexmk pdflatex",
        "", kP, Operands::kRead, "-o:w --output:w --filter:x"},
    ProgramRow{"twine", "upload", kN, Operands::kNone, ""},

    // Data.
    ProgramRow{"prisma drizzle-kit knex sequelize typeorm", "", kP, Operands::kNone, ""},

    // Containers and machines elsewhere.
    ProgramRow{"docker podman nerdctl",
               "ps images logs inspect version info top stats port diff history events search "
               "image+ls image+inspect container+ls container+inspect network+ls network+inspect "
               "volume+ls volume+inspect compose+ps compose+logs compose+config compose+images "
               "compose+top compose+version compose+ls context+ls system+df buildx+ls",
               kF, Operands::kNone, "--output:v"},
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
    ProgramRow{"docker-compose", "ps logs config images top version", kF, Operands::kNone, ""},
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

    // Others.
    ProgramRow{"top htop reset", "", kU, Operands::kNone, ""},
    ProgramRow{"gdb lldb valgrind perf heaptrack rr ltrace hyperfine", "", kP, Operands::kNone, ""},
    ProgramRow{"openssl gpg age sops", "", kU, Operands::kNone, "-out:w -o:w --output:w"},
    ProgramRow{"code subl open xdg-open", "", kU, Operands::kNone, ""},
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
    Globals{"terraform tofu", "-chdir:c -version --version -help"},
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

std::string_view GlobalOptions(std::string_view program) {
  const auto* found = std::ranges::find_if(
      kGlobals, [&](const Globals& one) { return HasWord(one.names, program); });
  return found == kGlobals.end() ? "--version --help -h" : found->options;
}

const ProgramRow* FindProgram(std::string_view program, std::string_view first,
                              std::string_view second) {
  const auto fits = [&](const ProgramRow& row) {
    return HasWord(row.names, program) &&
           (row.subcommands.empty() || row.subcommands == "*" ||
            (!first.empty() && HasSubcommand(row.subcommands, first, second)));
  };
  const std::span<const ProgramRow> readers = ReaderRows();
  if (const auto found = std::ranges::find_if(readers, fits); found != readers.end())
    return &*found;
  const auto* found = std::ranges::find_if(kRows, fits);
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace stet::policy
