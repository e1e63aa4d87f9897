# Many runs at once by Snakemake, one thread a run.  From the root of the checkout:
#
#   snakemake -s pipelines/examples/sweep.smk -j 8 --rerun-incomplete
#   snakemake -s pipelines/examples/sweep.smk -j 64 --rerun-incomplete --cluster 'sbatch --mem={resources.mem_mb} --time={resources.runtime}'
#
# --config scene=FILE cases=FILE.tsv until=SECONDS out=DIR step='options of step' bin=DIR: another sweep.  A case whose row changes is
# made again, and what was killed goes on from its last whole frame (after kill -9 once with --unlock).  --keep-going makes the
# others where one fails.  What pipelines/examples/sweep_case says of one run holds.
scene, cases = config.get("scene", "pipelines/examples/slope.yaml"), config.get("cases", "pipelines/examples/sweep.tsv")
until, out = config.get("until", 0.2), config.get("out", "out/sweep")
with open(cases) as f:
    row = {line.split("\t")[0]: line.rstrip("\n") for line in list(f)[1:]}
if "bin" in config:
    shell.prefix(f"export BIN={config['bin']}; ")


localrules: table


rule table:
    input: expand(f"{out}/{{case}}.abut", case=row)
    output: f"{out}/table.tsv"
    shell: f"pipelines/examples/sweep_table {cases} {out} > {{output}}"


rule run:
    input: scene
    output: f"{out}/{{case}}.abut"
    params: row=lambda w: row[w.case], step=config.get("step", ""), until=until
    threads: 1
    resources: mem_mb=4000, runtime=720
    shell: f"pipelines/examples/sweep_case {scene} {cases} {out} {{wildcards.case}} {{params.until}} {{params.step}}"
